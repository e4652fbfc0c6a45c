/** Why changes here leave no audit record of the API. Those of the pages are in the audit log of the pages. */
export const UNRECORDED = 'the standard keeps no audit trail of kanalen and abonnementen'
