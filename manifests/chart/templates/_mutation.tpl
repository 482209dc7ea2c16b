{{/* "true" if anything changes pods. */}}
{{- define "paddock.mutates" -}}
{{- or (eq (include "paddock.scoped" .) "true") .Values.gates.enabled .Values.adopt.enabled (eq (include "paddock.namesOwners" .) "true") -}}
{{- end }}

{{/* "true" if one policy gives both markers and gates. */}}
{{- define "paddock.marksAndGates" -}}
{{- and (eq (include "paddock.scoped" .) "true") .Values.gates.enabled -}}
{{- end }}

{{/* "true" if owners are written on pods. */}}
{{- define "paddock.namesOwners" -}}
{{- and .Values.identity.enabled .Values.identity.add -}}
{{- end }}

{{/* What changes pods: policies or webhook. Never both. */}}
{{- define "paddock.mutation.by" -}}
{{- if ne .Values.mutation.by "auto" -}}
{{- .Values.mutation.by -}}
{{- else if include "paddock.mutation.served" . -}}
policies
{{- else -}}
webhook
{{- end -}}
{{- end }}

{{/* The version of MutatingAdmissionPolicy that the cluster serves, and that the values allow; empty for none. */}}
{{- define "paddock.mutation.served" -}}
{{- if .Capabilities.APIVersions.Has "admissionregistration.k8s.io/v1/MutatingAdmissionPolicy" -}}
admissionregistration.k8s.io/v1
{{- else if and .Values.mutation.beta (.Capabilities.APIVersions.Has "admissionregistration.k8s.io/v1beta1/MutatingAdmissionPolicy") -}}
admissionregistration.k8s.io/v1beta1
{{- end -}}
{{- end }}

{{- define "paddock.mutation.version" -}}
{{- $missing := "mutation.by is policies, and this cluster serves no MutatingAdmissionPolicy v1, which Kubernetes has from 1.36 on: set mutation.by to webhook; or set mutation.beta=true where v1beta1 is served. `helm template` needs --api-versions admissionregistration.k8s.io/v1/MutatingAdmissionPolicy" -}}
{{- include "paddock.mutation.served" . | required $missing -}}
{{- end }}

{{/* "true" if policies, or a webhook, are rendered for this: (dict "root" $ "by" "policies" "on" true) */}}
{{- define "paddock.mutation.is" -}}
{{- and .on (eq (include "paddock.mutation.by" .root) .by) -}}
{{- end }}

{{/* "true" if Paddock serves the webhook. */}}
{{- define "paddock.webhook" -}}
{{- include "paddock.mutation.is" (dict "root" . "by" "webhook" "on" (eq (include "paddock.mutates" .) "true")) -}}
{{- end }}

{{/* Match conditions: the same for policy and webhook, which is asked if those of one rule hold. */}}
{{- define "paddock.conditions.mark" -}}
# Mirror pods and others that skip the scheduler have no marker. Validation refuses a pod without containers.
- name: needs-scheduling
  expression: object.spec.?nodeName.orValue("") == "" && object.spec.?containers[0].hasValue()
{{- end }}

{{- define "paddock.conditions.gate" -}}
# A pod that has a node already cannot have gates.
- name: needs-scheduling
  expression: object.spec.?nodeName.orValue("") == ""
{{- end }}

{{/* Whether the scheduler of a pod calls Paddock, in CEL. No match condition of what changes pods: an API server does not
     ask a policy again whose conditions did not hold, and adoption may set the name after that. */}}
{{- define "paddock.called" -}}
object.spec.?schedulerName.orValue("default-scheduler") in {{ include "paddock.schedulerNames" . }}
{{- end }}

{{- define "paddock.calledByAny" -}}
object.spec.?schedulerName.orValue("default-scheduler") in ["default-scheduler", "yunikorn", "paddock"]
{{- end }}

{{- define "paddock.conditions.adopt" -}}
# Kubelets create mirrors of static pods, which run in any case.
- name: not-by-a-kubelet
  expression: '!("system:nodes" in request.userInfo.?groups.orValue([]))'
- name: not-of-yunikorn-itself
  expression: object.metadata.?labels["app"].orValue("") != "yunikorn"
{{- end }}

{{- define "paddock.conditions.owner" -}}
# These controllers compare their objects with the template, and would create them again forever.
- name: not-a-controller-of-the-cluster
  expression: |-
    !(request.userInfo.username.startsWith("system:serviceaccount:kube-system:")
      || request.userInfo.username == "system:kube-controller-manager")
{{- end }}

{{/* The conditions of a list joined to one expression. */}}
{{- define "paddock.conditions.joined" -}}
{{- $all := list -}}
{{- range fromYamlArray . }}{{ $all = append $all (printf "(%s)" .expression) }}{{ end -}}
{{- join " && " $all -}}
{{- end }}

{{/* Kinds with a template of pods. */}}
{{- define "paddock.templateRules" -}}
- apiGroups: [""]
  apiVersions: ["v1"]
  operations: ["CREATE", "UPDATE"]
  resources: ["replicationcontrollers"]
- apiGroups: ["apps"]
  apiVersions: ["v1"]
  operations: ["CREATE", "UPDATE"]
  resources: ["deployments", "replicasets", "statefulsets", "daemonsets"]
- apiGroups: ["batch"]
  apiVersions: ["v1"]
  operations: ["CREATE", "UPDATE"]
  resources: ["jobs", "cronjobs"]
{{- end }}

{{- define "paddock.podRules" -}}
- apiGroups: [""]
  apiVersions: ["v1"]
  operations: ["CREATE"]
  resources: ["pods"]
{{- end }}

{{/* Whether a pod is managed, in CEL. */}}
{{- define "paddock.managed" -}}
namespaceObject.?metadata.?annotations["yunikorn.apache.org/namespace.enableYuniKorn"].orValue("") == "true"
|| (request.namespace != "kube-system" && (
  object.spec.?schedulerName.orValue("") in ["yunikorn", "paddock"]
  || ["yunikorn.apache.org/app-id", "yunikorn.apache.org/queue"].exists(key,
    key in object.metadata.?labels.orValue({}) || key in object.metadata.?annotations.orValue({}))))
{{- end }}

{{- define "paddock.markers" -}}
["paddock.dev/filter", "paddock.dev/preempt", "paddock.dev/bind"]
{{- end }}

{{/* Operations of a patch that give the first container markers, in CEL. They are few, since the API server converts
     and applies each of them. "add" replaces an existing value, and extended resources need equal requests and limits. */}}
{{- define "paddock.marking" -}}
{{- $markers := include "paddock.markers" . | fromJsonArray -}}
{{- $all := list -}}
{{- range $markers }}{{ $all = append $all (printf "%q: \"1\"" .) }}{{ end -}}
(has(object.spec.containers[0].resources) ? [] :
  [JSONPatch{op: "add", path: "/spec/containers/0/resources", value: {}}])
{{- range $part := list "requests" "limits" }}
+ (!object.spec.containers[0].?resources.?{{ $part }}.hasValue() ?
    [JSONPatch{op: "add", path: "/spec/containers/0/resources/{{ $part }}", value: {
      {{ join ", " $all }}}}] :
  {{- range $at, $marker := $markers }}
    {{ if $at }}+ {{ end }}(object.spec.containers[0].?resources.?{{ $part }}[?{{ quote $marker }}].orValue("") == "1" ? [] :
      [JSONPatch{op: "add", path: "/spec/containers/0/resources/{{ $part }}/{{ replace "/" "~1" $marker }}", value: "1"}])
  {{- end }})
{{- end }}
{{- end }}

{{/* Operations of a patch that give a pod the gate, in CEL. */}}
{{- define "paddock.gating" -}}
[has(object.spec.schedulingGates) ?
  JSONPatch{op: "add", path: "/spec/schedulingGates/-", value: {"name": "paddock.dev/queue"}} :
  JSONPatch{op: "add", path: "/spec/schedulingGates", value: [{"name": "paddock.dev/queue"}]}]
{{- end }}

{{/* Whether a request changes a pod that exists, in CEL. subResource is absent, not empty, where a pod is created. */}}
{{- define "paddock.ofPodThatExists" -}}
request.resource.resource == "bindings" || (request.resource.resource == "pods"
  && (request.operation == "UPDATE" || request.?subResource.hasValue()))
{{- end }}

{{/* The annotation that names the user of a request, in CEL. strings.quote writes JSON, except for control characters. */}}
{{- define "paddock.ownUser" -}}
'{"user":%s,"groups":[%s]}'.format(
  [[request.userInfo.username], request.userInfo.?groups.orValue([])].map(names, names.map(name,
    name.matches(r"^[^\x00-\x1f]*$") ? strings.quote(name) :
    '"' + name.split("")
      .map(char, char < " " ? '"\\u00' + "%x".format([char]) + '"' : strings.quote(char))
      .map(quoted, quoted.substring(1, quoted.size() - 1)).join() + '"'
  ).join(",")))
{{- end }}

{{/* Whether pods of a namespace are adopted, as variables of a policy. */}}
{{- define "paddock.taken" -}}
- name: process
  expression: |-
    params.?data[?"admissionController.filtering.processNamespaces"].orValue("")
      .split(",").map(each, each.trim()).filter(each, each != "")
- name: bypass
  expression: |-
    params.?data[?"admissionController.filtering.bypassNamespaces"].orValue("^kube-system$")
      .split(",").map(each, each.trim()).filter(each, each != "")
# An annotation of the namespace comes before the lists, even before bypassNamespaces.
- name: taken
  expression: |-
    namespaceObject.?metadata.?annotations[?"yunikorn.apache.org/namespace.enableYuniKorn"].hasValue() ?
      namespaceObject.metadata.annotations["yunikorn.apache.org/namespace.enableYuniKorn"] == "true" :
      (variables.process.size() == 0 || variables.process.exists(each, request.namespace.matches(each)))
        && !variables.bypass.exists(each, request.namespace.matches(each))
{{- end }}
