/**
 * Numbers the requests of a session over all its connections. Servers match late replies by session
 * and number.
 */

/** The maximum request number. Higher bits have other meanings. */
const MAX_NUMBER = 2 ** 29 - 1;

export function createRequestNumbers(first = 1): () => number {
  let next = first;
  return () => {
    const number = next;
    next = number === MAX_NUMBER ? 1 : number + 1;
    return number;
  };
}

/**
 * Numbers the requests of a session that another client began. The last number of that client is
 * unknown, so these numbers start at a random one.
 */
export function createRandomRequestNumbers(): () => number {
  return createRequestNumbers(1 + Math.floor(Math.random() * MAX_NUMBER));
}
