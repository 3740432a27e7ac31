/**
 * Computes the verdict on a sale from its history alone: each ticket put on sale, and each
 * customer's views, answer and end. It shares no code with the shop, so that it does not repeat the
 * shop's errors.
 */
import { percentilesOf, type Percentiles } from './percentiles.ts';

export interface Verdict {
  /** Tickets put on sale. */
  readonly tickets: number;
  /** Customers who got a yes. */
  readonly confirmed: number;
  /** Customers who got a yes on a preliminary view. */
  readonly confirmedEarly: number;
  /**
   * Customers who got a yes on the final view only, although the preliminary one exceeded the
   * threshold.
   */
  readonly heldBack: number;
  /**
   * Customers who got a yes whose final view is empty, or whose purchase has failed and taken
   * nothing.
   */
  readonly revoked: number;
  /**
   * Customers with contradictory ends: a ticket was handed out, and they got a no, or no answer;
   * several answers, or several final views; a final view that neither names a ticket nor shows
   * that there is none.
   */
  readonly contradicted: number;
  /**
   * Customers who got a yes at any time, beyond the tickets put on sale: not all of these promises
   * can be kept.
   */
  readonly promisedBeyondStock: number;
  /** Customers who got a yes that was never taken back, beyond the tickets put on sale. */
  readonly standingBeyondStock: number;
  /** Customers who got a yes whose purchase then had neither a final view nor a failure. */
  readonly leftHanging: number;
  /** Tickets handed out by final views, beyond those put on sale. */
  readonly oversold: number;
  /** Tickets handed out to more than one customer, counted once for each customer too many. */
  readonly duplicates: number;
  /** Tickets handed out that were never on sale. */
  readonly unknown: number;
  /**
   * Tickets that no customer got although the sale ended as sold out, less the number of unanswered
   * purchases.
   */
  readonly lost: number;
  /** Purchases without a final view, and without an error which shows that nothing was taken. */
  readonly unanswered: number;
  readonly latencyMs: Latencies;
}

/** Times since the arrival of the customer, in milliseconds. */
export interface Latencies {
  readonly preliminary: Percentiles;
  readonly final: Percentiles;
  /** The time until the answer, for customers who got a yes. */
  readonly purchase: Percentiles;
  /** The same for purchases whose first view showed more than `threshold` tickets left. */
  readonly purchaseAbove: Percentiles;
  /** The same for all others. */
  readonly purchaseBelow: Percentiles;
}

/** One line of a history, which is not checked yet. */
type Line = Readonly<Record<string, unknown>>;

/** The outcome of one customer. */
interface Customer {
  begunAtMs: number;
  preliminary: Line | undefined;
  answered: Line | undefined;
  final: Line | undefined;
  failed: Line | undefined;
  answers: number;
  finals: number;
}

/**
 * The code of a failure after which it is unknown whether a ticket was taken. After all other
 * failures, no ticket was taken.
 */
const UNKNOWN = 'UNKNOWN';

/** @param history the lines of one sale, parsed, in order */
export function verifySales(
  history: Iterable<unknown>,
  { threshold = 0 }: { readonly threshold?: number } = {},
): Verdict {
  const stock = new Set<unknown>();
  const customers = new Map<unknown, Customer>();
  for (const item of history) {
    const line = item as Line;
    if (line['kind'] === 'stocked') stock.add(line['item']);
    else note(line, customers);
  }
  const all = [...customers.values()];
  const yes = all.filter(({ answered: reported }) => reported?.['answer'] === 'yes');
  const freezeForUser = all.flatMap((customer) =>
    hasTicket(customer) ? [customer.final?.['item']] : [],
  );
  const different = new Set(freezeForUser);
  const unanswered = all.filter(isUnanswered).length;
  const isSoldOut = all.some(({ final }) => final !== undefined && final['item'] === null);
  const revoked = yes.filter((customer) => !hasTicket(customer) && !isUnanswered(customer)).length;
  const missing = [...stock].filter((ticket) => !different.has(ticket)).length;
  return {
    tickets: stock.size,
    confirmed: yes.length,
    confirmedEarly: yes.filter(({ answered: reported }) => reported?.['early'] === true).length,
    heldBack: yes.filter((customer) => isHeldBack(customer, threshold)).length,
    revoked,
    contradicted: all.filter(isContradicted).length,
    promisedBeyondStock: Math.max(0, yes.length - stock.size),
    standingBeyondStock: Math.max(0, yes.length - revoked - stock.size),
    leftHanging: yes.filter(({ final, failed }) => final === undefined && failed === undefined)
      .length,
    oversold: Math.max(0, freezeForUser.length - stock.size),
    duplicates: freezeForUser.length - different.size,
    unknown: freezeForUser.filter((ticket) => !stock.has(ticket)).length,
    lost: isSoldOut ? Math.max(0, missing - unanswered) : 0,
    unanswered,
    latencyMs: latenciesOf(all, threshold),
  };
}

function note(line: Line, customers: Map<unknown, Customer>): void {
  const operation = line['operation'];
  let customer = customers.get(operation);
  if (customer === undefined) {
    const none = {
      preliminary: undefined,
      answered: undefined,
      final: undefined,
      failed: undefined,
    };
    customer = { begunAtMs: atMs(line), ...none, answers: 0, finals: 0 };
    customers.set(operation, customer);
  }
  switch (line['kind']) {
    case 'preliminary':
      customer.preliminary ??= line;
      break;
    case 'answered':
      customer.answered ??= line;
      customer.answers += 1;
      break;
    case 'final':
      customer.final ??= line;
      customer.finals += 1;
      break;
    case 'failed':
      customer.failed = line;
      break;
    default:
  }
}

function hasTicket({ final }: Customer): boolean {
  return final !== undefined && final['item'] !== null && final['item'] !== undefined;
}

function isUnanswered({ final, failed }: Customer): boolean {
  return final === undefined && (failed === undefined || failed['code'] === UNKNOWN);
}

function isContradicted(customer: Customer): boolean {
  const { final, answered: reported, answers, finals } = customer;
  if (answers > 1 || finals > 1) return true;
  if (final !== undefined && final['item'] === undefined) return true;
  return hasTicket(customer) && reported?.['answer'] !== 'yes';
}

function isHeldBack({ preliminary, answered: reported }: Customer, threshold: number): boolean {
  if (reported?.['early'] === true || preliminary === undefined || preliminary['item'] === null)
    return false;
  return Number(preliminary['ticketsLeft']) > threshold;
}

function latenciesOf(customers: readonly Customer[], threshold: number): Latencies {
  const took = (
    which: 'preliminary' | 'answered' | 'final',
    of: readonly Customer[],
  ): Percentiles =>
    percentilesOf(
      of.flatMap(({ begunAtMs, [which]: line }) =>
        line === undefined ? [] : [atMs(line) - begunAtMs],
      ),
    );
  const isAbove = ({ preliminary, final }: Customer): boolean =>
    Number((preliminary ?? final)?.['ticketsLeft'] ?? 0) > threshold;
  const sold = customers.filter(({ answered: reported }) => reported?.['answer'] === 'yes');
  return {
    preliminary: took('preliminary', customers),
    final: took('final', customers),
    purchase: took('answered', sold),
    purchaseAbove: took('answered', customers.filter(isAbove)),
    purchaseBelow: took(
      'answered',
      customers.filter((customer) => !isAbove(customer)),
    ),
  };
}

function atMs(line: Line): number {
  return Number(line['atMs']);
}
