#!/bin/sh
# Copies the images of a release to a registry, for clusters that pull from nowhere else. It needs crane.
#   mirror-images.sh IMAGES.TXT REGISTRY [VERSION]
# REGISTRY: as in the chart's value global.imageRegistry; a path below the registry may follow.
# VERSION: of the cluster, such as v1.35.2. Then kube-scheduler is copied in this version only.
# CRANE: another name of the program, or its path with options.
set -eu
if [ "$#" -lt 2 ] || [ "$#" -gt 3 ]; then
  sed -n '3,6s/^# *//p' "$0" >&2
  exit 2
fi
list=$1 registry=${2%/} version=${3:-}
copied="" failed=0
while read -r image; do
  case $image in '' | '#'*) continue ;; esac
  if [ -n "$version" ]; then
    case $image in */kube-scheduler:*) image=${image%:*}:$version ;; esac
  fi
  case " $copied " in *" $image "*) continue ;; esac
  copied="$copied $image"
  tagged=${image%@*}
  target=$registry/${tagged#*/}
  echo "$image -> $target"
  # A copy keeps the digest, so the chart's reference is right in the mirror, too.
  ${CRANE:-crane} copy "$image" "$target" </dev/null || failed=1
done <"$list"
exit "$failed"
