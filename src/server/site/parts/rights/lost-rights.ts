/**
 * Reports rights to bounded fields that are lost with a closed site (CLU-M12 of
 * docs/spec/cluster.md). No other site gets them. The closed site may have used them for takes that
 * no other site has, and may have confirmed those takes.
 */
import type { Settling, SitePart } from '../../core/site-part.ts';
import type { Origin } from '../../../service/records/origin.ts';
import type { LostRight } from '../../site-event.ts';
import type { Ledger } from '../../../service/fields/ledger.ts';
import type { Tables } from '../../../service/tables.ts';
import type { Store } from '../../../service/state/store.ts';
import type { SiteCore } from '../../core/site-core.ts';

export class LostRights implements SitePart, Settling {
  /** Whether the stream of a closed origin is not fully applied here. */
  isDue = false;
  readonly #core: SiteCore;
  /** Closed origins that were reported, or were closed before this start. */
  readonly #known: Set<Origin>;
  /** Closed origins whose streams are not fully applied here. */
  readonly #pending = new Set<Origin>();

  constructor(core: SiteCore) {
    this.#core = core;
    const { origins } = core.options;
    this.#known = new Set(
      origins.closed.filter((origin) => origins.get(origin).final !== undefined),
    );
  }

  onMembersChanged(): void {
    const { origins } = this.#core.options;
    for (const origin of origins.closed) {
      if (origins.get(origin).final === undefined || this.#known.has(origin)) continue;
      this.#known.add(origin);
      this.#pending.add(origin);
      this.isDue = true;
    }
  }

  /** Reports each closed origin once its whole stream is applied here. */
  settle(): boolean {
    const { size } = this.#pending;
    for (const origin of this.#pending) {
      const { state, options } = this.#core;
      const { final } = options.origins.get(origin);
      if ((state.stable[origin] ?? 0) < (final?.stamp ?? 0)) continue;
      this.#pending.delete(origin);
      const lost = listRights(options.service.tables, state.store, origin);
      if (lost.length > 0) this.#core.outputs.report({ kind: 'rights-lost', origin, lost });
    }
    this.isDue = this.#pending.size > 0;
    return this.#pending.size < size;
  }
}

function listRights(tables: Tables, store: Store, origin: Origin): LostRight[] {
  return Object.entries(tables).flatMap(([table, { fields }]) => {
    const bounded = Object.keys(fields).filter((field) => fields[field]?.kind === 'bounded');
    if (bounded.length === 0) return [];
    return [...store.scan({ table }, false)].flatMap(({ key }) =>
      bounded.flatMap((field) => {
        const amount = (store.read(table, key, field) as Ledger).getHolding(origin);
        return amount > 0 ? [{ table, key, field, amount }] : [];
      }),
    );
  });
}
