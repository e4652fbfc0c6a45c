/** The copy cannot be made there. Nothing was written. */
export class CopyRefused extends Error {}
