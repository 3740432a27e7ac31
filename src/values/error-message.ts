/** Returns the message of an error, or the text of anything else that was thrown. */
export function getErrorMessage(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
