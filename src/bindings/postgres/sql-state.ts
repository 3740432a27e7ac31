/** The SQLSTATE of an error, which says what PostgreSQL has refused. */

/** Codes of Node, such as `EPIPE`, have no digit. Other libraries wrap the error of the driver. */
export function findSqlState(error: unknown, depth = 0): string | undefined {
  const { code, cause } = (error ?? {}) as { code?: unknown; cause?: unknown };
  if (typeof code === 'string' && /^(?=.*\d)[0-9A-Z]{5}$/.test(code)) return code;
  return depth < 3 && cause !== undefined ? findSqlState(cause, depth + 1) : undefined;
}
