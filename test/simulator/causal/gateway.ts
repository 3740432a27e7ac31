/**
 * A simulated gateway process: it does the rounds of the Redis binding, with the lease and the view
 * that the gateways of a site share.
 */
import type { CausalSite } from '../../../src/causal/causal-site.ts';
import type { SiteView } from '../../../src/causal/partition-calls.ts';
import { mergeViews } from '../../support/merged-view.ts';

/** What the gateways of one site share in its store. */
export class SharedView {
  view: SiteView | undefined;
  #holder: SimulatedGateway | undefined;
  #untilMs = 0;

  /** Takes what a gateway knows. Returns whether it has the lease. */
  exchange(
    gateway: SimulatedGateway,
    { view, nowMs }: { view: SiteView | undefined; nowMs: number },
  ): boolean {
    const isLeader = this.#holder === gateway || nowMs >= this.#untilMs;
    if (isLeader) [this.#holder, this.#untilMs] = [gateway, nowMs + LEASE_MS];
    if (view !== undefined) {
      if (this.view !== undefined) this.view = mergeViews(this.view, view, isLeader);
      else if (isLeader) this.view = view;
    }
    return isLeader;
  }
}

export interface GatewayEnvironment {
  readonly site: CausalSite;
  readonly shared: SharedView;
  nowMs(): number;
  /** Runs a call at the store of the site. `onReply` gets nothing if no reply came. */
  exchange<T extends object>(execute: () => T, onReply: (reply: T | undefined) => void): void;
}

const LEASE_MS = 200;
const FOLLOWER_POLL_MS = 200;

export class SimulatedGateway {
  readonly site: CausalSite;
  readonly #environment: GatewayEnvironment;
  #isLeader = false;
  #isExchanging = false;
  #polledAtMs = -Infinity;

  constructor(environment: GatewayEnvironment) {
    this.#environment = environment;
    this.site = environment.site;
  }

  runRound(): void {
    const { site } = this;
    const { nowMs } = this.#environment;
    if (this.#isLeader) {
      site.replicate();
      site.poll();
    } else {
      site.checkOwnStamps();
      site.requestHeals();
      const isDue = nowMs() - this.#polledAtMs >= FOLLOWER_POLL_MS;
      if (isDue || !site.isReady || this.#isExchanging) {
        this.#polledAtMs = nowMs();
        site.poll();
      }
    }
    this.#exchange();
  }

  #exchange(): void {
    if (this.#isExchanging) return;
    this.#isExchanging = true;
    const { exchange, shared, nowMs } = this.#environment;
    const view = this.site.isReady ? this.site.getView() : undefined;
    exchange(
      () => ({ isLeader: shared.exchange(this, { view, nowMs: nowMs() }), view: shared.view }),
      (reply) => {
        this.#isExchanging = false;
        // Without a lease, each gateway does all the work.
        this.#isLeader = reply?.isLeader ?? true;
        if (reply?.view !== undefined) this.site.observeView(reply.view);
      },
    );
  }
}
