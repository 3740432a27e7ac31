/**
 * Removes session tokens that other tokens of the session make redundant. Each of many concurrent
 * replies brings a token, and a request carries all of them in one header, so their number needs a
 * bound.
 *
 * A token of a RedBlue site is `maker.vector.signature`. Its vector is readable, although only a
 * site can sign it. A session with a larger vector has seen everything that a session with a
 * smaller vector has seen, so tokens with smaller vectors are dropped. Tokens of other stores
 * cannot be compared: only the latest of them are kept.
 */

/** Servers and proxies limit a header to 8 KiB or less, and browsers a cookie to 4 KiB. */
const MAX_LENGTH = 4_000;

interface SeenToken {
  readonly token: string;
  /** `undefined` if the vector cannot be read. */
  readonly vector: readonly number[] | undefined;
}

/**
 * Returns the tokens that no other token makes redundant, in their order. If the header would be
 * too long, the earliest tokens are left out.
 */
export function compactTokens(tokens: readonly string[]): readonly string[] {
  let latest: readonly SeenToken[] = [];
  for (const token of new Set(tokens)) {
    const seen = { token, vector: readVector(token) };
    if (latest.some((other) => covers(other, seen))) continue;
    latest = [...latest.filter((other) => !covers(seen, other)), seen];
  }
  const fits = createLengthLimit(MAX_LENGTH);
  return latest
    .map(({ token }) => token)
    .toReversed()
    .filter(fits)
    .toReversed();
}

/** Returns a function that accepts texts until the header is full. The first text always fits. */
function createLengthLimit(maxLength: number): (token: string) => boolean {
  let length = 0;
  return (token) => {
    const isFirst = length === 0;
    length += encodeURIComponent(token).length + 1;
    return isFirst || length <= maxLength;
  };
}

function covers({ vector }: SeenToken, { vector: other }: SeenToken): boolean {
  return (
    vector !== undefined &&
    other !== undefined &&
    other.every((stamp, entry) => stamp <= (vector[entry] ?? 0))
  );
}

/** Returns the vector of a token, if it has one. */
function readVector(token: string): SeenToken['vector'] {
  const [, payload, signature] = token.split('.');
  if (payload === undefined || signature === undefined) return undefined;
  try {
    const text = atob(payload.replaceAll('-', '+').replaceAll('_', '/'));
    const vector: unknown = JSON.parse(text);
    const isVector = Array.isArray(vector) && vector.every((stamp) => typeof stamp === 'number');
    return isVector ? vector : undefined;
  } catch {
    return undefined;
  }
}
