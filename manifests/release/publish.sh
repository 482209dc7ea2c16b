#!/bin/sh
# Publishes and signs the release in a folder: the image in its registry, and the files as a release of GitHub.
#   publish.sh FOLDER TAG
# FOLDER: what `make release` built. TAG: of the commit, such as v1.2.3.
# It needs crane, cosign and gh, logged in. CRANE, COSIGN and GH: other names of these, or paths with options.
set -eu
if [ "$#" -ne 2 ]; then
  sed -n '3,5s/^# *//p' "$0" >&2
  exit 2
fi
folder=$1 tag=$2
version=${tag#v}
if [ ! -f "$folder/paddock-$version.tgz" ]; then
  echo "publish.sh: $folder is not a release of $tag" >&2
  exit 1
fi
(cd "$folder" && sha256sum --quiet --check SHA256SUMS)

# The list names the image by its version and digest, and the chart by this digest alone.
image=$(grep -m 1 "^[^#].*:$version@sha256:" "$folder/images.txt")
name=${image%@*} digest=${image#*@}
pushed=$(${CRANE:-crane} push "$folder/image" "$name")
if [ "${pushed#*@}" != "$digest" ]; then
  echo "publish.sh: the registry has $pushed, and the release names $digest" >&2
  exit 1
fi
${COSIGN:-cosign} sign --yes --recursive "${name%:*}@$digest"
${COSIGN:-cosign} sign-blob --yes --bundle "$folder/SHA256SUMS.sigstore.json" "$folder/SHA256SUMS"

# A draft, so that a person looks at it before anybody can see it.
set --
for file in "$folder"/*; do
  if [ -f "$file" ]; then set -- "$@" "$file"; fi
done
${GH:-gh} release create "$tag" --draft --verify-tag --title "$tag" --notes "See CHANGELOG.md." "$@"
