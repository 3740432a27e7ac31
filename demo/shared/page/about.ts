/** The facts that a page requests first from its server, at `/about`. */
export interface About {
  /** The sites beside which a page can be. */
  readonly sites: readonly string[];
  /** How many users there are. */
  readonly users: number;
  /** How much of the paper's data there is. */
  readonly scale: number;
  /** The seed of the data. */
  readonly seed: number;
}

/**
 * Requests the facts.
 *
 * @throws Error if the server does not answer
 */
export async function askAbout(): Promise<About> {
  const response = await fetch('about');
  if (!response.ok)
    throw new Error(`The server answered ${response.status} when asked about itself.`);
  return (await response.json()) as About;
}
