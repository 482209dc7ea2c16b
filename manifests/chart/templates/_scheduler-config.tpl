{{/* The whole configuration of kube-scheduler for a mode and a form. */}}
{{- define "paddock.schedulerConfig" -}}
{{- $mode := .Values.mode }}
{{- $form := .Values.scheduler.form }}
{{- $scoped := eq (include "paddock.scoped" .) "true" }}
{{- $prioritize := eq $form "prioritize" }}
{{- $direct := eq $form "direct" -}}
# kube-scheduler's configuration for {{ if eq $mode "sidecar" }}the scheduler that runs beside Paddock in one pod
{{- else if eq $mode "kubeadm" }}a kubeadm control plane, where Paddock runs inside the scheduler's static pod
{{- else }}an existing kube-scheduler that reaches Paddock at a Service{{ end }}.
{{ if $prioritize -}}
# prioritize: as {{ if $scoped }}scoped{{ else }}plain{{ end }}, and Paddock also orders the nodes. Every node is scored, which makes each filter call larger.
{{- else if $direct -}}
# direct: as {{ if $scoped }}scoped{{ else }}plain{{ end }}, but kube-scheduler writes each Binding itself, which costs a call less for each pod. Pod groups
# do not start together, since they wait in bind calls.
{{- else if $scoped -}}
# scoped: only pods marked by manifests/policies are sent to Paddock, each verb by a marker of its own.
{{- else -}}
# plain: every pod of these profiles is sent to Paddock, which echoes those it does not manage.
{{- end }}
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
{{- if $prioritize }}
# Every node is shown to Paddock, so that the one it ranks first is among them.
percentageOfNodesToScore: 100
{{- else if .Values.scheduler.percentageOfNodesToScore }}
# Fewer names in each call, and fewer nodes to choose from.
percentageOfNodesToScore: {{ .Values.scheduler.percentageOfNodesToScore }}
{{- end }}
# A turn in the queues lasts 2 s; a pod must come back to filter within it.
podInitialBackoffSeconds: 1
podMaxBackoffSeconds: 1
clientConnection:
{{- if ne $mode "sidecar" }}
  kubeconfig: /etc/kubernetes/scheduler.conf
{{- end }}
  # Each new refusal costs a status PATCH within the scheduling cycle.
  qps: 500
  burst: 1000
leaderElection:
  leaderElect: true
  resourceLock: leases
  resourceNamespace: kube-system
{{- if eq $mode "sidecar" }}
  # Not the Lease kube-scheduler, since the cluster's scheduler keeps running beside this one.
  resourceName: paddock-scheduler
{{- else }}
  resourceName: kube-scheduler
{{- end }}
{{- if eq .Values.scheduler.lease "quick" }}
  leaseDuration: 8s
  renewDeadline: 5s
  retryPeriod: 1s
{{- else if eq .Values.scheduler.lease "patient" }}
  leaseDuration: 60s
  renewDeadline: 40s
  retryPeriod: 5s
{{- end }}
profiles:
{{- if eq $mode "sidecar" }}
- schedulerName: yunikorn
{{- else }}
- schedulerName: default-scheduler
{{- end }}
  # Keeps pods with marker resources schedulable, whatever `extenders` entries are configured, even with none.
  pluginConfig: &ignore-markers
  - name: NodeResourcesFit
    args:
      ignoredResourceGroups: ["paddock.dev"]
{{- if ne $mode "sidecar" }}
- schedulerName: yunikorn
  pluginConfig: *ignore-markers
{{- end }}
- schedulerName: paddock
  pluginConfig: *ignore-markers
extenders:
{{ include "paddock.extender" (dict "root" . "verbs" (concat (list "filter") ($prioritize | ternary (list "prioritize") list) ($scoped | ternary list (list "preempt"))) "first" true) }}
{{- if $scoped }}
{{ include "paddock.extender" (dict "root" . "verbs" (list "preempt")) }}
{{- end }}
{{- if not $direct }}
# A bind call may be held for up to 100 s (paddock.bind.deadline), so the time-out is longer.
{{ include "paddock.extender" (dict "root" . "verbs" (list "bind")) }}
{{- end }}
{{- end }}

{{/* An entry of `extenders`: (dict "root" $ "verbs" list "first" true for the one that holds the anchor) */}}
{{- define "paddock.extender" -}}
{{- $root := .root }}
{{- $tls := eq (include "paddock.tls" $root) "true" -}}
- urlPrefix: "{{ include "paddock.url" $root }}"
{{- range .verbs }}
  {{ . }}Verb: {{ . }}
{{- end }}
{{- if has "prioritize" .verbs }}
  # One step of Paddock's score outweighs all in-tree scores together (at most about 1,500).
  weight: 200
{{- end }}
  nodeCacheCapable: true
  ignorable: false
  httpTimeout: {{ if has "bind" .verbs }}120s{{ else }}5s{{ end }}
{{- if eq (include "paddock.scoped" $root) "true" }}
  managedResources:
  - name: paddock.dev/{{ first .verbs }}
    ignoredByScheduler: true
{{- end }}
{{- if $tls }}
  enableHTTPS: true
{{- if .first }}
  tlsConfig: &tls
    # The name that is verified instead of the address in urlPrefix.
    serverName: paddock.{{ $root.Release.Namespace }}.svc
{{- if eq $root.Values.mode "service" }}
    caFile: /etc/kubernetes/paddock/ca.crt
    certFile: /etc/kubernetes/paddock/client.crt
    keyFile: /etc/kubernetes/paddock/client.key
{{- else }}
    caFile: /etc/paddock-client-tls/ca.crt
    certFile: /etc/paddock-client-tls/tls.crt
    keyFile: /etc/paddock-client-tls/tls.key
{{- end }}
{{- else }}
  tlsConfig: *tls
{{- end }}
{{- end }}
{{- end }}

{{/* Address at which kube-scheduler calls Paddock. */}}
{{- define "paddock.url" -}}
{{- if eq .Values.mode "service" -}}
https://{{ .Values.service.address | default (printf "paddock.%s.svc" .Release.Namespace) }}:{{ .Values.ports.verbs }}/v1
{{- else -}}
{{ if eq (include "paddock.tls" .) "true" }}https{{ else }}http{{ end }}://127.0.0.1:{{ .Values.ports.verbs }}/v1
{{- end -}}
{{- end }}
