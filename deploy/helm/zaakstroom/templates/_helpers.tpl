{{- define "zaakstroom.name" -}}{{ .Release.Name | trunc 50 | trimSuffix "-" }}{{- end }}

{{- define "zaakstroom.labels" -}}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
app.kubernetes.io/name: zaakstroom
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Values.image.tag | default .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "zaakstroom.selector" -}}
app.kubernetes.io/name: zaakstroom
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{- define "zaakstroom.image" -}}{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{ with .Values.image.digest }}@{{ . }}{{ end }}{{- end }}

{{- define "zaakstroom.serviceAccount" -}}
{{- if .Values.serviceAccount.create }}{{ .Values.serviceAccount.name | default (include "zaakstroom.name" .) }}{{ else }}{{ .Values.serviceAccount.name | default "default" }}{{ end }}
{{- end }}

{{- /* A secret of Kubernetes, unless it is empty and a file of the same setting is mounted. */}}
{{- define "zaakstroom.secret" -}}
{{- if .secret.name }}
- name: {{ .name }}
  valueFrom: { secretKeyRef: { name: {{ .secret.name }}, key: {{ .secret.key }} } }
{{- else if not (hasKey .root.Values.env (printf "%s_FILE" .name)) }}
{{- fail (printf "secrets: %s needs a name, or env.%s_FILE the path of a file that is mounted" .name .name) }}
{{- end }}
{{- end }}

{{- define "zaakstroom.settings" -}}
{{- range $name, $value := .Values.env }}
{{- if ne (toString $value) "" }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- end }}
{{- end }}

{{- define "zaakstroom.env" -}}
{{- include "zaakstroom.secret" (dict "root" . "name" "DATABASE_URL" "secret" .Values.secrets.databaseUrl) }}
{{- range $name, $secret := dict "DATABASE_DIRECT_URL" .Values.secrets.directDatabaseUrl "DATABASE_READ_URL" .Values.secrets.readDatabaseUrl }}
{{- if $secret.name }}
- name: {{ $name }}
  valueFrom: { secretKeyRef: { name: {{ $secret.name }}, key: {{ $secret.key }} } }
{{- end }}
{{- end }}
{{- include "zaakstroom.secret" (dict "root" . "name" "SECRET_KEY" "secret" .Values.secrets.secretKey) }}
{{- include "zaakstroom.settings" . }}
{{- if .Values.metrics.enabled }}
- name: METRICS_PORT
  value: {{ .Values.metrics.port | quote }}
{{- end }}
{{- end }}

{{- define "zaakstroom.ownMounts" -}}
- { name: tmp, mountPath: /tmp }
{{- with .Values.volumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "zaakstroom.ownVolumes" -}}
- name: tmp
  emptyDir: {}
{{- with .Values.volumes }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "zaakstroom.mounts" -}}
{{- include "zaakstroom.ownMounts" . }}
{{- if .Values.persistence.documenten.enabled }}
- { name: documenten, mountPath: /var/lib/zaakstroom }
{{- end }}
{{- if .Values.persistence.importData.enabled }}
- { name: import-data, mountPath: /import-data, readOnly: true }
{{- end }}
{{- end }}

{{- define "zaakstroom.volumes" -}}
{{- include "zaakstroom.ownVolumes" . }}
{{- if .Values.persistence.documenten.enabled }}
- name: documenten
  persistentVolumeClaim: { claimName: {{ .Values.persistence.documenten.existingClaim | default (printf "%s-documenten" (include "zaakstroom.name" .)) }} }
{{- end }}
{{- if .Values.persistence.importData.enabled }}
- name: import-data
  persistentVolumeClaim: { claimName: {{ required "persistence.importData.existingClaim" .Values.persistence.importData.existingClaim }}, readOnly: true }
{{- end }}
{{- end }}

{{- define "zaakstroom.placing" -}}
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations: {{ toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.affinity }}
affinity: {{ toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "zaakstroom.spread" -}}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels: {{- include "zaakstroom.selector" . | nindent 8 }}
{{- end }}

{{- /* Of one pod there is none: it would keep its node from being drained. */}}
{{- define "zaakstroom.pdb" -}}
{{- $of := index .root.Values .component }}
{{- if gt (int (ternary $of.autoscaling.minReplicas $of.replicas $of.autoscaling.enabled)) 1 }}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ include "zaakstroom.name" .root }}-{{ .component }}
  labels: {{- include "zaakstroom.labels" .root | nindent 4 }}
spec:
  {{- toYaml $of.pdb | nindent 2 }}
  selector:
    matchLabels: {{- include "zaakstroom.selector" . | nindent 6 }}
{{- end }}
{{- end }}
