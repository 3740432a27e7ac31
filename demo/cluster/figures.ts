/** Computes the figures of a sale at the sites of a cluster from its history alone. */
import { verifySales, type Verdict } from '../tickets/verify/verify-sales.ts';
import type { FaultReport } from './faults.ts';

/** A move of a retailer to another site. */
export interface Move {
  readonly retailer: number;
  readonly from: string;
  readonly to: string;
  readonly atMs: number;
}

/** The figures of one site. */
export interface SiteFigures {
  /** Customers who came to it. */
  readonly customers: number;
  /** Customers who got their last answer there, by that answer. */
  readonly confirmed: number;
  readonly revoked: number;
  /** Tickets handed out there. */
  readonly sold: number;
  /** Retailers who moved away from it. The next field counts those who moved to it. */
  readonly movedAway: number;
  readonly movedHere: number;
}

export interface SaleFigures extends Verdict {
  /** Tickets handed out. */
  readonly sold: number;
  /** How often a retailer moved to another site. */
  readonly moves: number;
  /** Customers who came to one site and were served at another. */
  readonly customersMoved: number;
  readonly perSite: Readonly<Record<string, SiteFigures>>;
  /** Whether every ticket was sold once, and no other was promised. */
  readonly ok: boolean;
}

/** The fields of a line of a history that are read here. */
interface Line {
  readonly kind?: unknown;
  readonly operation?: unknown;
  readonly retailer?: unknown;
  readonly site?: unknown;
  readonly item?: unknown;
  readonly answer?: unknown;
  readonly atMs?: unknown;
}

interface Customer {
  readonly retailer: number;
  readonly from: string;
  at: string;
  isConfirmed: boolean;
  item: unknown;
}

/**
 * @param history the lines of one sale, parsed, in order
 * @param threshold of the sale
 */
export function figuresOf(history: readonly unknown[], threshold: number): SaleFigures {
  const customers = readCustomers(history as readonly Line[]);
  const moves = movesOf(history);
  const verdict = verifySales(history, { threshold });
  const { confirmed, revoked, tickets, duplicates, oversold, contradicted } = verdict;
  const sites = new Set(customers.flatMap(({ from, at }) => [from, at]));
  const siteFigures = [...sites]
    .toSorted()
    .map((site) => [site, figuresAt(site, customers, moves)] as const);
  const isComplete = tickets > 0 && confirmed - revoked === tickets;
  return {
    ...verdict,
    sold: customers.filter(hasTicket).length,
    moves: moves.length,
    customersMoved: customers.filter(({ from, at }) => from !== at).length,
    perSite: Object.fromEntries(siteFigures),
    ok: isComplete && duplicates === 0 && oversold === 0 && contradicted === 0,
  };
}

/** The moves of the retailers, in order. */
export function movesOf(history: readonly unknown[]): Move[] {
  const retailers = new Map<unknown, number>();
  const places = new Map<number, string>();
  const moves: Move[] = [];
  for (const { kind, operation, retailer, site, atMs } of history as readonly Line[]) {
    if (kind === 'begun') retailers.set(operation, Number(retailer));
    const mover = retailers.get(operation);
    if (mover === undefined || typeof site !== 'string') continue;
    const from = places.get(mover);
    places.set(mover, site);
    if (from !== undefined && from !== site)
      moves.push({ retailer: mover, from, to: site, atMs: Number(atMs) });
  }
  return moves;
}

function readCustomers(history: readonly Line[]): readonly Customer[] {
  const customers = new Map<unknown, Customer>();
  for (const { kind, operation, retailer, site, item, answer } of history) {
    if (kind === 'begun') {
      const at = String(site);
      customers.set(operation, {
        retailer: Number(retailer),
        from: at,
        at,
        isConfirmed: false,
        item: undefined,
      });
    }
    const customer = customers.get(operation);
    if (customer === undefined) continue;
    if (typeof site === 'string') customer.at = site;
    if (kind === 'answered') customer.isConfirmed = answer === 'yes';
    if (kind === 'final') customer.item = item;
  }
  return [...customers.values()];
}

function figuresAt(
  site: string,
  customers: readonly Customer[],
  moves: readonly Move[],
): SiteFigures {
  const served = customers.filter(({ at }) => at === site);
  return {
    customers: customers.filter(({ from }) => from === site).length,
    confirmed: served.filter(({ isConfirmed }) => isConfirmed).length,
    revoked: served.filter(({ isConfirmed, item }) => isConfirmed && item === null).length,
    sold: served.filter(hasTicket).length,
    movedAway: moves.filter(({ from }) => from === site).length,
    movedHere: moves.filter(({ to }) => to === site).length,
  };
}

function hasTicket({ item }: Customer): boolean {
  return item !== null && item !== undefined;
}

/** Describes the result of a sale through faults in a sentence. */
export function describeSale({
  ok,
  tickets,
  sold,
  killed,
  frozen,
}: SaleFigures & FaultReport): string {
  const faults = `${killed.site} was killed and ${frozen.site} frozen`;
  return ok
    ? `All ${tickets} tickets were sold once each, while ${faults}.`
    : `FAILED: ${sold} of ${tickets} tickets were sold while ${faults}, but not each of them once: see the figures above.`;
}
