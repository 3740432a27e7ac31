/** Every site shows the red operations in one and the same order, and the blue ones of each origin likewise. */
import type { Origin } from '../../../server/records/origin.ts';
import { isRed, require, type AnyOperation, type Checker } from './checker.ts';

export class TotalOrderChecker implements Checker {
  readonly name = 'red total order';
  /** The one order of each origin and of red, as far as any site has shown it. */
  readonly #orders = new Map<string, string[]>();
  readonly #positions = new Map<string, number>();

  started(site: Origin, saved?: readonly (readonly [string, number])[]): void {
    for (const position of this.#positions.keys()) {
      if (position.startsWith(`${site}:`)) this.#positions.delete(position);
    }
    for (const [position, count] of saved ?? []) this.#positions.set(position, count);
  }

  save(site: Origin): readonly (readonly [string, number])[] {
    return [...this.#positions].filter(([position]) => position.startsWith(`${site}:`));
  }

  applied(site: Origin, operation: AnyOperation): void {
    const origin = isRed(operation) ? 'red' : `site ${operation.site}`;
    const order = this.#orders.get(origin) ?? [];
    this.#orders.set(origin, order);
    const position = this.#positions.get(`${site}:${origin}`) ?? 0;
    this.#positions.set(`${site}:${origin}`, position + 1);
    order[position] ??= operation.id;
    require(order[position] === operation.id, () =>
      `site ${site} shows ${operation.id} at ${origin} ${position}, where another shows ${order[position]}`);
  }
}
