{{/* The patch by which kubeadm makes kube-scheduler read a configuration. */}}
{{- define "paddock.staticPod.flag" -}}
# Runs before the patch numbered 1, while kube-scheduler is the only container.
# With --config its own --kubeconfig flag is ignored; the file names the same one.
- op: add
  path: /spec/containers/0/command/-
  value: --config=/etc/kubernetes/paddock/scheduler-config.yaml
{{- end }}

{{/* The patch by which kubeadm puts Paddock into kube-scheduler's static pod. */}}
{{- define "paddock.staticPod.container" -}}
apiVersion: v1
kind: Pod
metadata:
  name: kube-scheduler
  namespace: kube-system
spec:
  containers:
  - name: kube-scheduler
    volumeMounts:
    - name: paddock
      mountPath: /etc/kubernetes/paddock
      readOnly: true
  - name: paddock
{{- if .Values.kustomize }}
    # A static pod is outside kustomize: put the full name of your image here.
{{- end }}
    image: {{ include "paddock.image" (dict "root" . "name" "paddock" "tag" .Chart.AppVersion) }}
    imagePullPolicy: {{ .Values.images.paddock.pullPolicy }}
    args:
    - serve
    - --namespace={{ .Release.Namespace }}
    # The pod uses the host's network: these are ports of the node, reachable from it and not from elsewhere.
    - --verbs-address=127.0.0.1
    - --verbs-port={{ .Values.ports.verbs }}
    - --admin-address=127.0.0.1
    - --admin-port={{ .Values.ports.admin }}
    - --lease=kube-system/kube-scheduler
    - --kubeconfig=/etc/kubernetes/paddock/kubeconfig
{{- if and .Values.records.enabled (not .Values.kustomize) }}
    - --records-protected=true
{{- end }}
{{- if eq (include "paddock.webhook" .) "true" }}
    # For the API server of the same node.
    - --serving-address=127.0.0.1
    - --webhook-port={{ .Values.ports.webhook }}
{{- end }}
{{- with include "paddock.furtherArguments" . }}
{{ trim . | indent 4 }}
{{- end }}
    startupProbe:
      httpGet:
        host: 127.0.0.1
        path: /livez
        port: {{ .Values.ports.admin }}
      periodSeconds: 2
      failureThreshold: 60
      timeoutSeconds: 5
    livenessProbe:
      httpGet:
        host: 127.0.0.1
        path: /livez
        port: {{ .Values.ports.admin }}
      failureThreshold: 6
      timeoutSeconds: 15
    readinessProbe:
      httpGet:
        host: 127.0.0.1
        path: /readyz
        port: {{ .Values.ports.admin }}
      timeoutSeconds: 15
    resources:
{{ toYaml .Values.paddock.resources | indent 6 }}
    securityContext:
      runAsNonRoot: true
      runAsUser: 65532
      runAsGroup: 65532
      allowPrivilegeEscalation: false
      readOnlyRootFilesystem: true
      capabilities:
        drop: ["ALL"]
      seccompProfile:
        type: RuntimeDefault
    volumeMounts:
    - name: paddock
      mountPath: /etc/kubernetes/paddock
      readOnly: true
    - name: paddock-tmp
      mountPath: /tmp
  volumes:
  - name: paddock
    hostPath:
      path: /etc/kubernetes/paddock
      type: Directory
  - name: paddock-tmp
    emptyDir:
      sizeLimit: 16Mi
{{- end }}
