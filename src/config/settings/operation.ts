// What is measured and logged, and the bounds of connections and uploads.
import Type from 'typebox'
import { pages } from '../in-pages.ts'

export const OPERATION = {
  metricsPort: Type.Optional(
    Type.Integer({
      env: 'METRICS_PORT',
      minimum: 1,
      maximum: 65535,
      description: 'metrics for Prometheus; unset: nowhere',
    }),
  ),
  otelEndpoint: Type.Optional(
    Type.String({
      env: 'OTEL_EXPORTER_OTLP_ENDPOINT',
      kind: 'address',
      must: 'begin with https:// or http://, and have no ? and no #',
      pattern: '^https?://[^?#\\s]+$',
      description: 'collector that traces are sent to (OTLP over HTTP, /v1/traces below it); unset: nothing is traced',
    }),
  ),
  otelHeaders: Type.Optional(
    Type.String({
      env: 'OTEL_EXPORTER_OTLP_HEADERS',
      needs: ['OTEL_EXPORTER_OTLP_ENDPOINT'],
      kind: 'headers',
      secret: true,
      description: 'headers for the collector, as name=value with commas, percent-encoded',
    }),
  ),
  otelServiceName: Type.String({
    env: 'OTEL_SERVICE_NAME',
    needs: ['OTEL_EXPORTER_OTLP_ENDPOINT'],
    default: 'zaakstroom',
    minLength: 1,
    description: 'name of this service in traces',
  }),
  otelSamplerArg: Type.Number({
    env: 'OTEL_TRACES_SAMPLER_ARG',
    needs: ['OTEL_EXPORTER_OTLP_ENDPOINT'],
    default: 1,
    minimum: 0,
    maximum: 1,
    description: 'part of the traces that is sent, from 0 to 1; a caller that sends traceparent decides for its own',
  }),
  logboekDataverwerkingen: Type.Boolean({
    env: 'LOGBOEK_DATAVERWERKINGEN',
    default: false,
    description:
      'true: each act that touches a case or a person, also a read, gets a line in the log of processing (Logboek Dataverwerkingen)',
  }),
  logboekActiviteit: Type.Optional(
    Type.String({
      env: 'LOGBOEK_ACTIVITEIT',
      needs: ['LOGBOEK_DATAVERWERKINGEN'],
      kind: 'address',
      must: 'begin with https:// or http://, and have at most 1000 characters',
      pattern: '^https?://[!-~]{1,990}$',
      description:
        'processing activity of cases whose zaaktype and catalogus have none: its URL in your register of processing activities',
    }),
  ),
  logboekEndpoint: Type.Optional(
    Type.String({
      env: 'LOGBOEK_OTLP_ENDPOINT',
      needs: ['LOGBOEK_DATAVERWERKINGEN'],
      kind: 'address',
      must: 'begin with https:// or http://, and have no ? and no #',
      pattern: '^https?://[^?#\\s]+$',
      description:
        'where lines of the log of processing go (OTLP over HTTP, /v1/traces below it), never sampled; unset: they stay in the database only',
    }),
  ),
  logboekHeaders: Type.Optional(
    Type.String({
      env: 'LOGBOEK_OTLP_HEADERS',
      needs: ['LOGBOEK_OTLP_ENDPOINT'],
      kind: 'headers',
      secret: true,
      description: 'headers for it, as name=value with commas, percent-encoded',
    }),
  ),
  logboekSpoolMost: Type.Integer({
    env: 'LOGBOEK_SPOOL_MOST',
    needs: ['LOGBOEK_DATAVERWERKINGEN'],
    default: 20_000_000,
    minimum: 1,
    maximum: 1_000_000_000,
    description:
      'lines that may wait for that collector, or for a worker; beyond it whatever touches cases or persons is answered with 503, since nothing is done without its line',
  }),
  logboekRetentionDays: Type.Integer({
    env: 'LOGBOEK_RETENTION_DAYS',
    default: 365,
    minimum: 1,
    maximum: 36_500,
    description:
      'days after which lines of the log of processing are removed here; those that wait for the collector stay',
    ...pages({
      group: 'Bewaren',
      label: 'Logboek dataverwerkingen, in dagen',
      help: 'Zo lang blijft hier te zien wie naar een zaak of een persoon keek. Wat nog niet bij het logboek van de organisatie is, blijft langer.',
    }),
  }),
  minUploadSize: Type.Integer({
    env: 'MIN_UPLOAD_SIZE',
    default: 4 * 1024 ** 3,
    minimum: 1024,
    maximum: 2 ** 42,
    description: 'largest body of a request with content, in bytes (a largest, though Open Zaak named it MIN)',
  }),
  uploadChunkSize: Type.Optional(
    Type.Integer({
      env: 'DOCUMENTEN_UPLOAD_CHUNK_SIZE',
      minimum: 1,
      maximum: 2 ** 42,
      description: 'size of a bestandsdeel in bytes; default MIN_UPLOAD_SIZE',
    }),
  ),
  /** How long requests are still served after the stop was announced. */
  stopDelaySeconds: Type.Integer({
    env: 'STOP_DELAY_SECONDS',
    default: 0,
    minimum: 0,
    maximum: 20,
    description: 'seconds that the API goes on after a signal, while /readyz is 503 and a balancer turns away from it',
  }),
  httpHeadersTimeout: Type.Integer({
    env: 'HTTP_HEADERS_TIMEOUT',
    default: 15,
    minimum: 1,
    maximum: 300,
    description: 'seconds in which the headers of a request have to be there',
  }),
  httpRequestTimeout: Type.Integer({
    env: 'HTTP_REQUEST_TIMEOUT',
    default: 30,
    minimum: 1,
    maximum: 3600,
    description: 'seconds in which its body has to be there, other than content and imports',
  }),
  httpMinRate: Type.Integer({
    env: 'HTTP_MIN_RATE',
    default: 1024,
    minimum: 0,
    maximum: 1_000_000_000,
    description: 'bytes a second, over that time, at which content has to come in and an answer has to be read; 0: any',
  }),
  httpMaxConnections: Type.Integer({
    env: 'HTTP_MAX_CONNECTIONS',
    default: 2000,
    minimum: 10,
    maximum: 1_000_000,
    description: 'connections at once; when they are taken only /livez is answered',
  }),
  httpMaxConnectionsPerAddress: Type.Integer({
    env: 'HTTP_MAX_CONNECTIONS_PER_ADDRESS',
    default: 500,
    minimum: 1,
    maximum: 1_000_000,
    description: 'of one address; those that TRUST_PROXY names have no bound of their own',
  }),
  logLevel: Type.Enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], {
    env: 'LOG_LEVEL',
    default: 'info',
    description: 'least severe level that is logged',
  }),
}
