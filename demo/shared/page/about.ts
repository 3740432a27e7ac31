/** What a page asks its server before anything else, at `/about`. */
export interface About {
  /** The sites that a page can stand beside. */
  readonly sites: readonly string[];
  /** How many users there are. */
  readonly users: number;
  /** How much of the paper's data there is. */
  readonly scale: number;
  /** What the data was made from. */
  readonly seed: number;
}

/**
 * Asks for it.
 *
 * @throws Error when the server does not say
 */
export async function askAbout(): Promise<About> {
  const response = await fetch('about');
  if (!response.ok) throw new Error(`The server answered ${response.status} when asked about itself.`);
  return (await response.json()) as About;
}
