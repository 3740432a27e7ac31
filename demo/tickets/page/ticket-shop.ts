/** What happens behind the page: connects the retailers, puts tickets on sale, sells them; tells the page of changes. */
import { CorrectableError } from 'correctables';
import { runSale, stockUp } from '../sale.ts';
import { serveCustomer, type Purchase, type SaleEvent } from '../serve-customer.ts';
import { ConnectionWatch } from './connection-watch.ts';
import { closeRetailers, openRetailers, type Retailer } from './retailers.ts';
import type { Settings } from './settings.ts';

/** Where the page is: `ready` has tickets on sale and no retailer at work. */
export type Phase = 'connecting' | 'stocking' | 'ready' | 'selling' | 'sold-out' | 'stopped' | 'failed';

/** One purchase as the page lists it. */
export interface Row extends Purchase {
  readonly site: string;
  readonly byHand: boolean;
}

/** One stock of tickets and all that has been sold of it. */
export interface SaleRecord {
  /** The queue that holds the tickets. */
  readonly event: string;
  /** By customer, in the order in which they came. */
  readonly rows: ReadonlyMap<string, Row>;
  readonly history: readonly SaleEvent[];
}

interface OpenSale extends SaleRecord {
  readonly rows: Map<string, Row>;
  readonly history: SaleEvent[];
  readonly stop: AbortController;
  /** By `performance.now()`. */
  readonly beganAt: number;
}

export class TicketShop {
  readonly settings: Settings;
  readonly #changed: () => void;
  #phase: Phase = 'connecting';
  #failure: unknown;
  #retailers: readonly Retailer[] = [];
  #sale: OpenSale = openSale();
  #handBought = 0;
  #connections: ConnectionWatch | undefined;

  /** @param changed called after every change; several may come in one turn of the event loop */
  constructor(settings: Settings, changed: () => void) {
    this.settings = settings;
    this.#changed = changed;
  }

  get phase(): Phase {
    return this.#phase;
  }

  /** Why the phase is `failed`. */
  get failure(): unknown {
    return this.#failure;
  }

  /** The sites that the page has no connection to at the moment. */
  get lostSites(): readonly string[] {
    return this.#connections?.lost() ?? [];
  }

  get sale(): SaleRecord {
    return this.#sale;
  }

  /** Connects and puts tickets on sale. */
  async open(): Promise<void> {
    await this.#guarded(openSale(), async (sale) => {
      await this.#connect();
      await this.#stock(sale);
    });
  }

  /** Starts the retailers: on the tickets that are on sale, or, once a sale has begun, on a fresh stock. */
  async start(): Promise<void> {
    if (this.#phase === 'connecting' || this.#phase === 'stocking') return;
    const reopen = this.#phase !== 'ready';
    if (reopen) this.#sale.stop.abort();
    await this.#guarded(reopen ? openSale() : this.#sale, async (sale) => {
      if (this.#retailers.length === 0) await this.#connect();
      if (reopen) await this.#stock(sale);
      await this.#sell(sale);
    });
  }

  /** Sends the retailers home: customers being served are served to the end. */
  stop(): void {
    if (this.#phase === 'selling') this.#sale.stop.abort();
  }

  /** Buys one ticket by hand, at a retailer beside `site`. */
  async buy(site: string): Promise<void> {
    const retailer = this.#retailers.find((one) => one.site === site);
    if (retailer === undefined) return;
    this.#handBought += 1;
    const customer = `you-${this.#handBought}`;
    await this.#guarded(this.#sale, async (sale) => {
      const served = serveCustomer(retailer.shop, {
        customer,
        retailer: this.#retailers.indexOf(retailer),
        event: sale.event,
        threshold: this.settings.threshold,
        saleBeganAt: sale.beganAt,
        onEvent: (line) => sale.history.push(line),
        onPurchase: (purchase) => this.#advance(sale, { ...purchase, site, byHand: true }),
      });
      const failure = await served.failure;
      if (failure !== undefined) throw failure;
    });
  }

  async #connect(): Promise<void> {
    this.#enter('connecting');
    const connections = new ConnectionWatch({
      onChange: () => this.#changed(),
      onGone: (site) => {
        const gone = new CorrectableError('UNAVAILABLE', `Site ${site} is out of reach.`);
        if (this.#connections === connections) void this.#fail(gone);
      },
    });
    this.#connections = connections;
    this.#retailers = await openRetailers(this.settings.retailers, connections);
  }

  async #stock({ event }: OpenSale): Promise<void> {
    this.#enter('stocking');
    await stockUp(
      this.#retailers.map(({ shop }) => shop),
      event,
      this.settings.tickets,
    );
    this.#enter('ready');
  }

  async #sell(sale: OpenSale): Promise<void> {
    this.#enter('selling');
    await runSale(
      this.#retailers.map(({ shop }) => shop),
      {
        event: sale.event,
        policy: this.settings,
        signal: sale.stop.signal,
        onEvent: (line) => sale.history.push(line),
        onPurchase: (purchase) => {
          const site = this.settings.retailers[purchase.retailer] as string;
          this.#advance(sale, { ...purchase, site, byHand: false });
        },
      },
    );
    const isOver = this.#sale === sale && this.#phase === 'selling';
    if (isOver) this.#enter(sale.stop.signal.aborted ? 'stopped' : 'sold-out');
  }

  /** Runs a step of `sale`, the current one from now on. A failure is shown, unless a later sale has begun. */
  async #guarded(sale: OpenSale, step: (sale: OpenSale) => Promise<void>): Promise<void> {
    this.#sale = sale;
    try {
      await step(sale);
    } catch (error) {
      if (this.#sale === sale) await this.#fail(error);
    }
  }

  /** Leaves no retailer behind, so that the next start connects anew. */
  async #fail(error: unknown): Promise<void> {
    if (this.#phase === 'failed') return;
    this.#sale.stop.abort();
    this.#failure = error;
    this.#enter('failed');
    const retailers = this.#retailers;
    this.#retailers = [];
    await closeRetailers(retailers);
  }

  #advance(sale: OpenSale, row: Row): void {
    sale.rows.set(row.customer, row);
    this.#changed();
  }

  #enter(phase: Phase): void {
    this.#phase = phase;
    this.#changed();
  }
}

function openSale(): OpenSale {
  const event = `concert-${Date.now().toString(36)}-${Math.random().toString(36).slice(2, 8)}`;
  return { event, rows: new Map(), history: [], stop: new AbortController(), beganAt: performance.now() };
}
