export const VERTROUWELIJKHEIDAANDUIDINGEN = [
  'openbaar',
  'beperkt_openbaar',
  'intern',
  'zaakvertrouwelijk',
  'vertrouwelijk',
  'confidentieel',
  'geheim',
  'zeer_geheim',
] as const

export type Vertrouwelijkheidaanduiding = (typeof VERTROUWELIJKHEIDAANDUIDINGEN)[number]
