{{- define "navtalk.image" -}}
{{- $image := .Values.image -}}
{{- if $image.digest }}{{ $image.repository }}@{{ $image.digest }}
{{- else if $image.tag }}{{ $image.repository }}:{{ $image.tag }}
{{- else }}{{ $image.repository }}{{ end -}}
{{- end }}
{{- define "navtalk.secret" -}}
{{ .Values.secret | default .Release.Name }}
{{- end }}
