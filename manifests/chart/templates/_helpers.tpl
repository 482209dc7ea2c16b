{{/* An image: (dict "root" $ "name" "paddock" "tag" "the tag without one in the values") */}}
{{- define "paddock.image" -}}
{{- $image := index .root.Values.images .name -}}
{{- $missing := printf "images.%s.repository has no default: set it to where your cluster pulls this image from, such as --set images.%s.repository=REGISTRY/NAME" .name .name -}}
{{- $repository := required $missing $image.repository -}}
{{- $registry := .root.Values.global.imageRegistry | default $image.registry -}}
{{- with $registry }}{{ . }}/{{ end }}{{ $repository }}
{{- if $image.digest }}{{ with $image.tag }}:{{ . }}{{ end }}@{{ $image.digest }}{{ else }}:{{ $image.tag | default .tag }}{{ end -}}
{{- end }}

{{/* The version of the cluster, without the suffix of a distribution. */}}
{{- define "paddock.kubernetes" -}}
{{- regexFind "^v[0-9]+[.][0-9]+[.][0-9]+" .Capabilities.KubeVersion.Version -}}
{{- end }}

{{/* "true" if only pods with markers go to Paddock. */}}
{{- define "paddock.scoped" -}}
{{- or (eq .Values.scheduler.form "scoped") (eq .Values.mode "service") -}}
{{- end }}

{{/* "true" if Paddock has ports with a login. */}}
{{- define "paddock.logins" -}}
{{- and (ne .Values.mode "kubeadm") (or .Values.rest.enabled .Values.apiService.enabled) -}}
{{- end }}

{{/* "true" if administrators may act through the aggregated API. */}}
{{- define "paddock.admin" -}}
{{- and .Values.admin.enabled .Values.apiService.enabled (ne .Values.mode "kubeadm") -}}
{{- end }}

{{/* "true" if Paddock has ports with a certificate that it makes itself. */}}
{{- define "paddock.serves" -}}
{{- or (eq (include "paddock.logins" .) "true") (eq (include "paddock.webhook" .) "true") -}}
{{- end }}

{{/* "true" if the verbs are served over TLS. */}}
{{- define "paddock.tls" -}}
{{- ne .Values.tls.source "none" -}}
{{- end }}

{{/* "true" if Paddock makes the certificates of the verbs, so that their Secrets may not exist yet. */}}
{{- define "paddock.selfSigned" -}}
{{- eq .Values.tls.source "selfSigned" -}}
{{- end }}

{{/* "true" if a Prometheus can read Paddock at its REST port. */}}
{{- define "paddock.scraped" -}}
{{- and .Values.monitoring.enabled .Values.rest.enabled (ne .Values.mode "kubeadm") -}}
{{- end }}

{{/* Labels of what the Prometheus operator reads. */}}
{{- define "paddock.monitored" -}}
app.kubernetes.io/part-of: paddock
{{- with .Values.monitoring.labels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* How a Prometheus verifies the REST port. */}}
{{- define "paddock.scrapeTls" -}}
tlsConfig:
  serverName: paddock.{{ .Release.Namespace }}.svc
  ca:
    secret:
      name: paddock-serving
      key: ca.crt
{{- end }}

{{/* Name of the Deployment. */}}
{{- define "paddock.workload" -}}
{{- if eq .Values.mode "sidecar" }}paddock-scheduler{{ else }}paddock{{ end -}}
{{- end }}

{{/* Paddock's user name at the API server. */}}
{{- define "paddock.subjects" -}}
{{- if eq .Values.mode "kubeadm" -}}
subjects:
- apiGroup: rbac.authorization.k8s.io
  kind: User
  name: paddock
{{- else -}}
subjects:
- kind: ServiceAccount
  name: paddock
  namespace: {{ .Release.Namespace }}
{{- end -}}
{{- end }}

{{/* A binding of a ClusterRole to Paddock: (dict "root" $ "name" "the binding" "role" "the role") */}}
{{- define "paddock.bound" -}}
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: {{ .name }}
  labels:
    app.kubernetes.io/part-of: paddock
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: {{ .role | default .name }}
{{ include "paddock.subjects" .root }}
{{- end }}

{{/* Values that contradict each other. */}}
{{- define "paddock.checked" -}}
{{- if and (eq .Values.mode "service") (eq .Values.scheduler.form "plain") -}}
{{- fail "mode service has no form plain, since Paddock's own pod would wait for Paddock: set scheduler.form to scoped, prioritize or direct" -}}
{{- end -}}
{{- if and (eq .Values.mode "service") (eq .Values.tls.source "none") -}}
{{- fail "in mode service calls leave their host: set tls.source to selfSigned, secret or certManager" -}}
{{- end -}}
{{- if and (eq .Values.mode "kubeadm") (ne .Values.tls.source "none") -}}
{{- fail "in mode kubeadm certificates are files of the nodes: leave tls.source at none" -}}
{{- end -}}
{{- if and (eq .Values.scheduler.form "prioritize") .Values.scheduler.percentageOfNodesToScore -}}
{{- fail "form prioritize scores every node: leave scheduler.percentageOfNodesToScore at 0" -}}
{{- end -}}
{{- if and (ne .Values.mode "sidecar") (gt (int .Values.replicas) 1) -}}
{{- fail "only mode sidecar has a Lease that several replicas follow: set replicas to 1" -}}
{{- end -}}
{{- if and (eq .Values.tls.source "selfSigned") (has .Values.tls.clientSecret (list "paddock-serving" "paddock-authority")) -}}
{{- fail "tls.clientSecret: this name belongs to a Secret with keys that only Paddock reads" -}}
{{- end -}}
{{- if and (eq .Values.tls.source "certManager") (not .Values.tls.certManager.issuerRef.name) -}}
{{- fail "tls.certManager.issuerRef.name: name the issuer of cert-manager" -}}
{{- end -}}
{{- end }}

{{/* Names of the schedulers that call Paddock, as a list of CEL. */}}
{{- define "paddock.schedulerNames" -}}
{{- if eq .Values.mode "sidecar" }}["yunikorn", "paddock"]{{ else }}["default-scheduler", "yunikorn", "paddock"]{{ end -}}
{{- end }}
