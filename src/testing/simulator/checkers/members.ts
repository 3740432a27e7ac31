/**
 * Checks that all sites agree about each origin. A closed stream has one end, which no site exceeds
 * and all reach.
 */
import type { KnownOrigin, Origin, Origins } from '../../../server/service/records/origin.ts';
import { encodeValue } from '../../../server/node/storage/format/value-text.ts';
import { CountingChecker, assertProperty, type FinalState } from './checker.ts';

/** Describes an origin without its state, which changes. */
function describeOrigin({ site, incarnation, directory }: KnownOrigin): string {
  return `${site}, incarnation ${incarnation}, on ${directory ?? 'its first directory'}`;
}

export class MembersChecker extends CountingChecker {
  readonly name = 'members';
  /** The number of operations that count of a closed stream, by ordinal. */
  readonly #finals = new Map<number, number>();
  readonly #origins = new Map<number, string>();

  onMembers(site: Origin, origins: Origins): void {
    for (const origin of origins.sites) {
      const known = origins.get(origin);
      const description = describeOrigin(known);
      const other = this.#origins.get(origin) ?? description;
      this.#origins.set(origin, other);
      assertProperty(
        other === description,
        () => `site ${site} has ordinal ${origin} as ${description}, and another as ${other}`,
      );
      if (known.final !== undefined) this.#checkFinal(site, origin, known.final.sequence);
    }
  }

  onFinished({ sites }: FinalState): void {
    const [first, ...others] = sites.map(({ site, origins }) => ({
      site,
      table: encodeValue(origins.save()),
    }));
    for (const { site, table } of others) {
      assertProperty(
        table === first?.table,
        () =>
          `site ${site} ends with the members ${table}, and site ${first?.site} with ${first?.table}`,
      );
    }
    for (const [origin, final] of this.#finals) {
      for (const { site } of sites) {
        const shown = this.getState(site)[origin] ?? 0;
        assertProperty(
          shown === final,
          () => `site ${site} ends with ${shown} of the ${final} operations of ${origin}`,
        );
      }
    }
  }

  #checkFinal(site: Origin, origin: Origin, final: number): void {
    const other = this.#finals.get(origin) ?? final;
    this.#finals.set(origin, other);
    assertProperty(
      other === final,
      () =>
        `the stream of ordinal ${origin} ends with ${final} at site ${site}, and with ${other} at another`,
    );
    const shown = this.getState(site)[origin] ?? 0;
    assertProperty(
      shown <= final || site === origin,
      () =>
        `site ${site} shows ${shown} operations of ordinal ${origin}, which was closed at ${final}`,
    );
  }
}
