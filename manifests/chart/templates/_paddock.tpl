{{/* Placement of Paddock's pod, and the account that it runs under. */}}
{{- define "paddock.placement" -}}
serviceAccountName: paddock
automountServiceAccountToken: true
# For a Service named paddock the kubelet would set PADDOCK_… variables, which Paddock would read as settings.
enableServiceLinks: false
{{- with .Values.pod.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .Values.global.imagePullSecrets }}
imagePullSecrets:
{{- range . }}
- name: {{ . }}
{{- end }}
{{- end }}
{{- if .Values.pod.hostNetwork }}
hostNetwork: true
dnsPolicy: ClusterFirstWithHostNet
{{- end }}
{{- if eq .Values.mode "sidecar" }}
# The cluster's own scheduler places this pod, so it never waits for itself.
{{- else }}
# The scheduler that calls Paddock places this pod. That works, since the pod carries no markers.
{{- end }}
schedulerName: default-scheduler
{{- with .Values.pod.nodeSelector }}
nodeSelector:
{{ toYaml . | indent 2 }}
{{- end }}
{{- with .Values.pod.tolerations }}
tolerations:
{{ toYaml . }}
{{- end }}
{{- if .Values.pod.preferControlPlane }}
affinity:
  nodeAffinity:
    preferredDuringSchedulingIgnoredDuringExecution:
    - weight: 100
      preference:
        matchExpressions:
        - key: node-role.kubernetes.io/control-plane
          operator: Exists
{{- end }}
{{- if .Values.spread.enabled }}
topologySpreadConstraints:
- topologyKey: {{ .Values.spread.topologyKey }}
  maxSkew: 1
  whenUnsatisfiable: ScheduleAnyway
  labelSelector:
    matchLabels:
      app.kubernetes.io/name: {{ include "paddock.workload" . }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
{{- if eq (include "paddock.tls" .) "true" }}
  fsGroup: 65532
{{- end }}
  seccompProfile:
    type: RuntimeDefault
{{- end }}

{{/* Paddock's container in the pod of a Deployment. */}}
{{- define "paddock.container" -}}
{{- $selfSigned := eq (include "paddock.selfSigned" .) "true" }}
{{- $files := and (eq (include "paddock.tls" .) "true") (not $selfSigned) }}
{{- $logins := eq (include "paddock.logins" .) "true" }}
{{- $webhook := eq (include "paddock.webhook" .) "true" -}}
- name: paddock
  image: {{ include "paddock.image" (dict "root" . "name" "paddock" "tag" .Chart.AppVersion) }}
  imagePullPolicy: {{ .Values.images.paddock.pullPolicy }}
  args:
  - serve
  - --namespace={{ .Release.Namespace }}
  - --verbs-address={{ if eq .Values.mode "service" }}0.0.0.0{{ else }}127.0.0.1{{ end }}
  - --verbs-port={{ .Values.ports.verbs }}
  - --admin-address=127.0.0.1
  - --admin-port={{ .Values.ports.admin }}
{{- if .Values.rest.enabled }}
  - --rest-port={{ .Values.ports.rest }}
{{- end }}
{{- if .Values.apiService.enabled }}
  - --aggregated-port={{ .Values.ports.aggregated }}
{{- end }}
{{- if and .Values.records.enabled (not .Values.kustomize) }}
  - --records-protected=true
{{- end }}
{{- if eq (include "paddock.admin" .) "true" }}
  - --admin-enabled=true
{{- if .Values.admin.acl }}
  - --admin-acl=true
{{- end }}
{{- if .Values.admin.config }}
  - --admin-config=true
{{- end }}
{{- end }}
{{- if and (eq .Values.mode "sidecar") $logins }}
  - --peer-port={{ .Values.ports.peer }}
{{- end }}
{{- if $webhook }}
  - --webhook-port={{ .Values.ports.webhook }}
{{- end }}
{{- if $selfSigned }}
  - --tls-client-secret={{ .Values.tls.clientSecret }}
{{- end }}
{{- if $files }}
  - --tls-cert=/etc/paddock/tls/tls.crt
  - --tls-key=/etc/paddock/tls/tls.key
  - --tls-client-ca=/etc/paddock/tls/ca.crt
{{- end }}
{{- if eq .Values.mode "sidecar" }}
  - --lease=kube-system/paddock-scheduler
{{- end }}
{{- with include "paddock.furtherArguments" . }}
{{ trim . | indent 2 }}
{{- end }}
{{- if or (eq .Values.mode "service") $logins $webhook }}
  ports:
{{- if eq .Values.mode "service" }}
  - name: verbs
    containerPort: {{ .Values.ports.verbs }}
{{- end }}
{{- if .Values.rest.enabled }}
  - name: rest
    containerPort: {{ .Values.ports.rest }}
{{- end }}
{{- if .Values.apiService.enabled }}
  - name: aggregated
    containerPort: {{ .Values.ports.aggregated }}
{{- end }}
{{- if $webhook }}
  - name: webhook
    containerPort: {{ .Values.ports.webhook }}
{{- end }}
{{- if and (eq .Values.mode "sidecar") $logins }}
  # Port at which the leading replica answers the others. It has no Service.
  - name: peer
    containerPort: {{ .Values.ports.peer }}
{{- end }}
{{- end }}
{{- if eq .Values.mode "service" }}
  # The admin port is on loopback, which the kubelet cannot reach. So the probe is a command.
{{- else }}
  # The verbs and the admin port are on loopback, which the kubelet cannot reach. So the probe is a command.
{{- end }}
  startupProbe:
    exec:
      command: ["paddock", "probe", "livez", "--admin-port={{ .Values.ports.admin }}"]
    periodSeconds: 2
    failureThreshold: 60
    timeoutSeconds: 5
  livenessProbe:
    exec:
      command: ["paddock", "probe", "livez", "--admin-port={{ .Values.ports.admin }}"]
    failureThreshold: 6
    timeoutSeconds: 15
  readinessProbe:
    exec:
      command: ["paddock", "probe", "readyz", "--admin-port={{ .Values.ports.admin }}"]
    timeoutSeconds: 15
  resources:
{{ toYaml .Values.paddock.resources | indent 4 }}
  securityContext:
    allowPrivilegeEscalation: false
    readOnlyRootFilesystem: true
    capabilities:
      drop: ["ALL"]
  volumeMounts:
{{- if $files }}
  - name: tls
    mountPath: /etc/paddock/tls
    readOnly: true
{{- end }}
  - name: tmp
    mountPath: /tmp
{{- end }}

{{/* Arguments that all modes share, each on a new line. */}}
{{- define "paddock.furtherArguments" -}}
{{- if ne .Values.paddock.logLevel "info" }}
- --log-level={{ .Values.paddock.logLevel }}
{{- end }}
{{- range .Values.paddock.extraArgs }}
- {{ . | quote }}
{{- end }}
{{- end }}

{{/* Annotations of the pod. They change with the files that it reads at its start, so that it is restarted. */}}
{{- define "paddock.podAnnotations" -}}
{{- $found := deepCopy .Values.pod.annotations -}}
{{- if and (eq .Values.mode "sidecar") (not .Values.kustomize) -}}
{{- $found = set $found "paddock.dev/scheduler-config" (include "paddock.schedulerConfig" . | sha256sum) -}}
{{- end -}}
{{- with $found }}
annotations:
{{ toYaml . | indent 2 }}
{{- end }}
{{- end }}
