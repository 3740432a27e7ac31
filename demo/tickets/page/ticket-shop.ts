/**
 * The model of the page: connects the sites, puts tickets on sale, sells them, and notifies the
 * page of changes.
 */
import type { CorrectableError } from 'correctables';
import { peek } from 'correctables/operations';
import { ticketShop } from '../contract.ts';
import { pause } from '../pause.ts';
import { runSale, type SalePolicy } from '../sale.ts';
import { serveCustomer, type Purchase } from '../serve-customer.ts';
import { ticketNames } from '../ticket-names.ts';
import { retry } from '../retry.ts';
import { Backend } from './backend.ts';
import { isPassing } from './failures.ts';
import { OpenSale, type Row, type SaleRecord } from './sale-record.ts';
import type { Settings } from './settings.ts';
import type { OpenSites, Site } from './sites.ts';

/** The phase of the page. `ready`: tickets are on sale, and no retailer sells yet. */
export type Phase =
  | 'connecting'
  | 'stocking'
  | 'ready'
  | 'selling'
  | 'sold-out'
  | 'stopped'
  | 'failed';

/** Sales that belong together: their waits are averaged. */
export interface Series {
  readonly sales: number;
  readonly finished: readonly SaleRecord[];
}

export interface StartOptions {
  /**
   * Whether a fresh stock replaces the tickets that are on sale, also if no customer has bought
   * one.
   */
  readonly isNew?: boolean;
  /** Customers who all arrive when the sale begins. */
  readonly rush?: { readonly site: string; readonly customers: number };
}

/** A customer that no retailer serves. */
interface ServedCustomer {
  readonly customer: string;
  /** Whether the visitor of the page bought. */
  readonly byHand: boolean;
  /** Whether the customer is served in the sale without early answers. */
  readonly strongOnly?: boolean;
}

const PEEK_EVERY_MS = 300;
const PEEK_TIMEOUT_MS = 2_000;
/** The pause of a retailer after a failed purchase. */
const RECOVERY_PAUSE_MS = 250;

export class TicketShop {
  readonly #changed: () => void;
  readonly #policy: SalePolicy;
  readonly #openSites: OpenSites | undefined;
  #settings: Settings;
  #phase: Phase = 'connecting';
  #failure: unknown;
  #backend: Backend | undefined;
  #sale: OpenSale;
  #series: { sales: number; finished: SaleRecord[] } = { sales: 1, finished: [] };
  #handBought = 0;

  /**
   * @param changed called after every change; several may come in one turn of the event loop
   * @param openSites connects to the sites. Default: those of the page's own server
   */
  constructor(settings: Settings, changed: () => void, openSites?: OpenSites) {
    this.#openSites = openSites;
    this.#settings = settings;
    this.#sale = new OpenSale(settings.event);
    this.#changed = changed;
    const current = (): Settings => this.#settings;
    this.#policy = {
      // Use only the threshold of the visitor. If it is too low, the page shows revoked tickets.
      isFixed: true,
      get threshold() {
        return current().threshold;
      },
      get paceMs() {
        return current().paceMs;
      },
    };
  }

  get settings(): Settings {
    return this.#settings;
  }

  get phase(): Phase {
    return this.#phase;
  }

  /** Why the phase is `failed`. */
  get failure(): unknown {
    return this.#failure;
  }

  /** The sites of the backend, once they are known. */
  get sites(): readonly Site[] {
    return this.#backend?.sites ?? [];
  }

  /** The sites that the page has no connection to at the moment. */
  get lostSites(): readonly string[] {
    return this.#backend?.lost ?? [];
  }

  get sale(): SaleRecord {
    return this.#sale;
  }

  get series(): Series {
    return this.#series;
  }

  /** Whether tickets can be bought by hand. */
  get isOpen(): boolean {
    return ['ready', 'selling', 'stopped', 'sold-out'].includes(this.#phase);
  }

  /**
   * Changes settings. Threshold and pace apply from the next customer on, all others from the next
   * sale.
   */
  change(settings: Partial<Settings>): void {
    this.#settings = { ...this.#settings, ...settings };
    this.#changed();
  }

  /** Connects, and puts tickets on sale or joins the event that is named in the settings. */
  async open(): Promise<void> {
    await this.#guarded(this.#sale, async (sale) => {
      await this.#stock(sale, await this.#connect(sale));
    });
  }

  /**
   * Starts the retailers: on the tickets that are on sale, or on a new stock if a sale has begun
   * already. Runs as many sales in a row as the settings specify.
   */
  async start({ isNew = false, rush }: StartOptions = {}): Promise<void> {
    if (this.#phase === 'connecting' || this.#phase === 'stocking') return;
    const isFresh = this.#phase === 'ready' && !isNew;
    if (!isFresh) this.#sale.stop.abort();
    const series = { sales: this.settings.sales, finished: [] as SaleRecord[] };
    this.#series = series;
    while (series.finished.length < series.sales) {
      const sale = isFresh && series.finished.length === 0 ? this.#sale : new OpenSale();
      const isLast = series.finished.length === series.sales - 1;
      await this.#guarded(sale, () => this.#run(sale, isLast, rush));
      const isDone =
        this.#series === series && this.#phase !== 'failed' && !sale.stop.signal.aborted;
      if (!isDone || this.settings.retailers.length === 0) return;
      series.finished.push(sale);
      this.#changed();
    }
  }

  /** Stops the retailers. Customers that are being served get their answers. */
  stop(): void {
    if (this.#phase === 'selling') this.#sale.stop.abort();
  }

  /** Buys one ticket for the visitor at `site`. */
  async buy(site: string): Promise<void> {
    this.#handBought += 1;
    await this.#serve(site, { customer: `you-${this.#handBought}`, byHand: true });
  }

  /**
   * Sends many customers to `site` at once, and the same number to the sale without early answers,
   * if there is one.
   */
  async rush(site: string, customers: number): Promise<void> {
    this.#handBought += 1;
    const all = Array.from({ length: customers }, (_, n) => `rush ${this.#handBought}-${n + 1}`);
    const sales = this.settings.compare ? [false, true] : [false];
    await Promise.all(
      sales.flatMap((strongOnly) =>
        all.map((customer) => this.#serve(site, { customer, byHand: false, strongOnly })),
      ),
    );
  }

  /** Unplugs the cable to `site`, or plugs it in again. */
  setCut(site: string, isCut: boolean): void {
    this.#backend?.site(site).setCut?.(isCut);
    this.#changed();
  }

  async #connect({ stop }: OpenSale): Promise<Backend> {
    this.#enter('connecting');
    const onGone = (reason: CorrectableError): void => {
      if (this.#backend === backend) void this.#fail(reason);
    };
    const backend = await Backend.connect(
      { onChange: () => this.#changed(), onGone },
      this.#openSites,
    );
    this.#backend = backend;
    for (const name of this.settings.retailers) backend.site(name);
    await backend.whenOnline(undefined, stop.signal);
    stop.signal.throwIfAborted();
    return backend;
  }

  /** Opens the event, unless it is open. Resolves when every reachable site has its tickets. */
  async #openEvent(
    sale: OpenSale,
    backend: Backend,
  ): Promise<{ readonly shop: Site['shop']; readonly stock: number }> {
    const { tickets } = this.settings;
    const { reachable, sites } = backend;
    const { shop } = reachable[0] ?? (sites[0] as Site);
    const opened = [sale.event, sale.baselineEvent].map((event) =>
      this.#whenOrdered(sale, backend, () =>
        shop.invokeStrong(ticketShop.openEvent({ event, tickets })),
      ),
    );
    const [event] = await Promise.all(opened);
    const peeked = reachable.map((site) =>
      this.#whenOrdered(sale, backend, () => site.shop.invokeStrong(peek(sale.event))),
    );
    await Promise.all(peeked);
    return { shop, stock: event?.tickets ?? tickets };
  }

  /**
   * Repeats what may not have been done, because the site that orders the sales is away. To open an
   * event twice is the same as to open it once.
   */
  async #whenOrdered<T>(
    sale: OpenSale,
    backend: Backend,
    attempt: () => PromiseLike<T>,
  ): Promise<T> {
    const { signal } = sale.stop;
    for (;;) {
      try {
        return await retry(attempt);
      } catch (failure) {
        if (!isPassing(failure) || backend.reachable.length === 0 || signal.aborted) throw failure;
        await pause(RECOVERY_PAUSE_MS, signal);
      }
    }
  }

  async #stock(sale: OpenSale, backend: Backend): Promise<void> {
    this.#enter('stocking');
    const { shop, stock } = await this.#openEvent(sale, backend);
    sale.stock(stock);
    // A store that sells by rights reports how many tickets its site has. Its tickets have no
    // numbers.
    const { meta } = await retry(() => shop.invokeStrong(peek(sale.event)).settle());
    if (meta?.['rights'] !== undefined) sale.nameOf = ticketNames(sale.event);
    this.#enter('ready');
    this.#follow(sale, backend).catch((error: unknown) => this.#fail(error));
  }

  /** One sale of a series, from stock to sold out. */
  async #run(sale: OpenSale, isLast: boolean, rush?: StartOptions['rush']): Promise<void> {
    const backend = this.#backend ?? (await this.#connect(sale));
    if (sale.tickets === 0) await this.#stock(sale, backend);
    else {
      // The servers may have been restarted since the tickets were put on sale.
      await this.#openEvent(sale, backend);
      sale.heardLeft = Infinity;
    }
    if (this.settings.retailers.length === 0) return;
    this.#enter('selling');
    const sales = [this.#sell(sale, backend, false)];
    if (this.settings.compare) sales.push(this.#sell(sale, backend, true));
    if (rush !== undefined) sales.push(this.rush(rush.site, rush.customers));
    await Promise.all(sales);
    const isOver = this.#sale === sale && this.#phase === 'selling';
    if (!isOver) return;
    if (sale.stop.signal.aborted) this.#enter('stopped');
    else if (isLast) this.#enter('sold-out');
  }

  async #sell(sale: OpenSale, backend: Backend, strongOnly: boolean): Promise<void> {
    const sites = this.settings.retailers.map((name) => backend.site(name));
    const siteOf = (retailer: number): string => (sites[retailer] as Site).name;
    const { signal } = sale.stop;
    await runSale(
      sites.map(({ shop }) => shop),
      {
        event: strongOnly ? sale.baselineEvent : sale.event,
        policy: this.#policy,
        strongOnly,
        signal,
        ...(sale.nameOf && !strongOnly && { nameOf: sale.nameOf }),
        onEvent: (line) => (strongOnly ? undefined : sale.history.push(line)),
        onPurchase: (purchase) => {
          const rows = strongOnly ? sale.baseline : sale.rows;
          this.#advance(rows, purchase, { site: sites[purchase.retailer] as Site, byHand: false });
        },
        recover: async (failure, retailer) => {
          if (!isPassing(failure)) throw failure;
          await pause(RECOVERY_PAUSE_MS, signal);
          await backend.whenOnline(siteOf(retailer), signal);
        },
      },
    );
  }

  async #serve(
    site: string,
    { customer, byHand, strongOnly = false }: ServedCustomer,
  ): Promise<void> {
    const place = this.#backend?.site(site);
    if (place === undefined || !this.isOpen) return;
    await this.#guarded(this.#sale, async (sale) => {
      const rows = strongOnly ? sale.baseline : sale.rows;
      const { failure } = serveCustomer(place.shop, {
        customer,
        retailer: -1,
        event: strongOnly ? sale.baselineEvent : sale.event,
        threshold: this.settings.threshold,
        isFixed: true,
        strongOnly,
        nameOf: strongOnly ? undefined : sale.nameOf,
        saleBeganAt: sale.beganAt,
        onEvent: (line) => (strongOnly ? undefined : sale.history.push(line)),
        onPurchase: (purchase) => this.#advance(rows, purchase, { site: place, byHand }),
      });
      const problem = await failure;
      if (problem !== undefined && !isPassing(problem)) throw problem;
    });
  }

  /** Reads repeatedly how many tickets are left, because others may sell from the same stock. */
  async #follow(sale: OpenSale, backend: Backend): Promise<void> {
    while (this.#sale === sale && this.#backend === backend) {
      const [site] = backend.reachable;
      if (site !== undefined) await this.#peek(site, sale);
      await pause(PEEK_EVERY_MS);
    }
  }

  async #peek({ shop }: Site, sale: OpenSale): Promise<void> {
    const view = await shop
      .invokeWeak(peek(sale.event), { timeoutMs: PEEK_TIMEOUT_MS })
      .settle()
      .catch(passing);
    const remaining = view?.meta?.['remaining'];
    if (typeof remaining !== 'number' || remaining >= sale.heardLeft) return;
    sale.heardLeft = remaining;
    const isIdle = this.#phase === 'ready' || this.#phase === 'stopped';
    if (remaining === 0 && isIdle && this.#sale === sale) this.#enter('sold-out');
    this.#changed();
  }

  /**
   * Makes `sale` the current sale, and runs a step of it. A failure is shown, unless a later sale
   * has begun.
   */
  async #guarded(sale: OpenSale, step: (sale: OpenSale) => Promise<void>): Promise<void> {
    this.#sale = sale;
    try {
      await step(sale);
    } catch (error) {
      if (this.#sale === sale) await this.#fail(error);
    }
  }

  /** Handles a failure. Closes all connections, so that the next start connects again. */
  async #fail(error: unknown): Promise<void> {
    if (this.#phase === 'failed') return;
    this.#sale.stop.abort();
    this.#failure = error;
    this.#enter('failed');
    const backend = this.#backend;
    this.#backend = undefined;
    await backend?.close();
  }

  #advance(
    rows: Map<string, Row>,
    purchase: Purchase,
    { site, byHand }: { site: Site; byHand: boolean },
  ): void {
    const { customer } = purchase;
    const path = rows.get(customer)?.path ?? [];
    const moved = path.at(-1) === site.at ? path : [...path, site.at];
    rows.set(customer, { ...purchase, site: site.name, path: moved, byHand });
    this.#changed();
  }

  #enter(phase: Phase): void {
    this.#phase = phase;
    this.#changed();
  }
}

/** Ignores a temporary failure of a read, which is soon repeated. */
function passing(error: unknown): undefined {
  if (!isPassing(error)) throw error;
}
