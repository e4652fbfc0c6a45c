/** What is asked of an organisation cannot be done; nothing was changed. */
export class OrganisationRefused extends Error {}
