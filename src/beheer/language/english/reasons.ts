/** Why the API refuses a value, where a form shows it. What is not here stays Dutch. */
export const REASONS: Record<string, string> = {}
