/** What a schema objects to, as text. */

/**
 * Returns the message of an issue. Without a locale, `zod/mini` writes `Invalid input` alone,
 * although the issue has what was expected.
 */
export function describeIssue(
  issue: { readonly message?: string | undefined } | undefined,
  fallback: string,
): string {
  const message = issue?.message ?? fallback;
  const { expected } = (issue ?? {}) as { readonly expected?: unknown };
  return message === 'Invalid input' && typeof expected === 'string'
    ? `${message}: expected ${expected}`
    : message;
}
