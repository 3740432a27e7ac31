/**
 * An operation that writes several rows is at a site in all of them or in none. A post appends its
 * text, which no other operation has, to the lines of each of its rows, and no line is ever
 * removed.
 */
import type { Origin } from '../../../src/server/service/records/origin.ts';
import type { SiteState } from '../../../src/server/site/core/site-state.ts';
import { assertProperty } from '../../../src/testing/simulator/checkers/checker.ts';
import type {
  AnyOperation,
  Checker,
  ClientView,
} from '../../../src/testing/simulator/checkers/checker.ts';

type Lines = readonly string[];
type LinesByRow = ReadonlyMap<string, Lines>;

export class WholeChecker implements Checker {
  readonly name = 'whole';
  readonly holdsAfterLoss = true;
  /** The rows of each post with several, by its text. */
  readonly #posts = new Map<string, readonly string[]>();
  readonly #rows = new Set<string>();
  /**
   * What was compared last, by site. A site gives the same list again as long as nothing was
   * appended.
   */
  readonly #compared = new Map<Origin, LinesByRow>();

  onCreated(_site: Origin, { shadow, effects }: AnyOperation): void {
    if (shadow !== 'post') return;
    const rows = [...new Set(effects.map(({ key }) => key))];
    const [effect] = effects;
    if (rows.length < 2 || effect === undefined) return;
    this.#posts.set(effect.value as string, rows);
    for (const row of rows) this.#rows.add(row);
  }

  /** Compares what the site has in its tables, with each operation that it applies. */
  onApplied(site: Origin, _operation: AnyOperation, { store }: SiteState): void {
    const lines = new Map(
      [...this.#rows].map((row) => [row, store.read('notes', row, 'lines') as Lines]),
    );
    const compared = this.#compared.get(site);
    if ([...lines].every(([row, list]) => compared?.get(row) === list)) return;
    this.#compared.set(site, lines);
    this.#compare(`site ${site}`, lines);
  }

  /** Compares what a client reads in several rows at once. */
  onView({ operation: { id, operation, args }, value }: ClientView): void {
    if (operation !== 'posts') return;
    const [first, second] = value as readonly [Lines, Lines];
    const rows = [
      [args['key'], first],
      [args['to'], second],
    ] as const;
    this.#compare(
      `what ${id} has read`,
      new Map(rows.map(([row, lines]) => [row as string, lines])),
    );
  }

  #compare(where: string, lines: LinesByRow): void {
    const texts = new Map([...lines].map(([row, list]) => [row, new Set(list)]));
    for (const [text, rows] of this.#posts) {
      const compared = rows.filter((row) => texts.has(row));
      const having = compared.filter((row) => texts.get(row)?.has(text));
      assertProperty(
        having.length === 0 || having.length === compared.length,
        () => `the post ${text} is in ${having.join()} of its rows ${compared.join()} at ${where}`,
      );
    }
  }
}
