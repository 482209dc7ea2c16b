{{/* One webhook: (dict "root" $ "name" "its name" "rules" list "conditions" list "of" "the define of its resources" "gated" "In, NotIn or empty") */}}
{{- define "paddock.webhook.entry" -}}
{{- $any := list -}}
{{- range .conditions }}{{ $any = append $any (printf "(%s)" (include "paddock.conditions.joined" .)) }}{{ end -}}
{{- $path := printf "/mutate/%s" (join "." .rules) -}}
- name: {{ .name }}.paddock.dev
  admissionReviewVersions: ["v1"]
  sideEffects: None
  matchPolicy: Equivalent
  # An outage of Paddock stops no pod. Set mutation.require to refuse the pods that it left unchanged.
  failurePolicy: Ignore
  timeoutSeconds: 2
  # Again after another mutation, which may have set the scheduler name. The patch has the same result every time.
  reinvocationPolicy: IfNeeded
  clientConfig:
{{- if eq .root.Values.mode "kubeadm" }}
    # Each API server asks the Paddock in the static pod of its own node.
    url: https://127.0.0.1:{{ .root.Values.ports.webhook }}{{ $path }}
{{- else }}
    service:
      name: paddock
      namespace: {{ .root.Release.Namespace }}
      port: {{ .root.Values.ports.webhook }}
      path: {{ $path }}
{{- end }}
  namespaceSelector:
    matchExpressions:
    # What runs the cluster, and Paddock itself, must start whatever becomes of this webhook.
    - key: kubernetes.io/metadata.name
      operator: NotIn
      values: ["kube-system", "{{ .root.Release.Namespace }}"]
{{- with .gated }}
    - key: paddock.dev/gate
      operator: {{ . }}
      values: ["true"]
{{- end }}
  rules:
{{ include .of .root | indent 2 }}
  matchConditions:
  - name: concerns-paddock
    expression: {{ join " || " $any | quote }}
{{- end }}
