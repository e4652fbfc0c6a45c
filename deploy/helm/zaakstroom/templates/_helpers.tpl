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

{{- define "zaakstroom.image" -}}{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{- end }}

{{- define "zaakstroom.serviceAccount" -}}
{{- if .Values.serviceAccount.create }}{{ .Values.serviceAccount.name | default (include "zaakstroom.name" .) }}{{ else }}{{ .Values.serviceAccount.name | default "default" }}{{ end }}
{{- end }}

{{- define "zaakstroom.podSecurity" -}}
runAsNonRoot: true
runAsUser: 1000
runAsGroup: 1000
fsGroup: 1000
seccompProfile: { type: RuntimeDefault }
{{- end }}

{{- define "zaakstroom.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end }}

{{- define "zaakstroom.env" -}}
- name: DATABASE_URL
  valueFrom: { secretKeyRef: { name: {{ .Values.secrets.databaseUrl.name }}, key: {{ .Values.secrets.databaseUrl.key }} } }
{{- range $name, $secret := dict "DATABASE_DIRECT_URL" .Values.secrets.directDatabaseUrl "DATABASE_READ_URL" .Values.secrets.readDatabaseUrl }}
{{- if $secret.name }}
- name: {{ $name }}
  valueFrom: { secretKeyRef: { name: {{ $secret.name }}, key: {{ $secret.key }} } }
{{- end }}
{{- end }}
- name: SECRET_KEY
  valueFrom: { secretKeyRef: { name: {{ .Values.secrets.secretKey.name }}, key: {{ .Values.secrets.secretKey.key }} } }
{{- range $name, $value := .Values.env }}
{{- if ne (toString $value) "" }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- end }}
{{- if .Values.metrics.enabled }}
- name: METRICS_PORT
  value: {{ .Values.metrics.port | quote }}
{{- end }}
{{- end }}

{{- define "zaakstroom.mounts" -}}
- { name: tmp, mountPath: /tmp }
{{- if .Values.persistence.documenten.enabled }}
- { name: documenten, mountPath: /var/lib/zaakstroom }
{{- end }}
{{- if .Values.persistence.importData.enabled }}
- { name: import-data, mountPath: /import-data, readOnly: true }
{{- end }}
{{- end }}

{{- define "zaakstroom.volumes" -}}
- name: tmp
  emptyDir: {}
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
