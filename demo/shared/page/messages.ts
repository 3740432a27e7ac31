/** The texts of a demo's page, which are inserted into the template when the page is built. */
export interface PageMessages {
  readonly title: string;
  readonly lede: string;
  /** What to look at, in a sentence or two. */
  readonly watch: string;
  /** The name of the referenced things, in the plural: "ads". */
  readonly things: string;
  readonly fetch: string;
  readonly fetchAndChange: string;
  /** How it works, in a paragraph of HTML. */
  readonly explanation: string;
  readonly source: string;
}
