/** Assembles the ticket shop's page and starts the sale. */
import { byHandView } from './manual-purchase.ts';
import { byId } from '../../shared/page/dom.ts';
import { OtherTabs } from './other-tabs.ts';
import { overviewView, showFailure } from './overview.ts';
import { presetsView } from './presets.ts';
import { purchaseListView } from './purchase-list.ts';
import { setupView } from './setup.ts';
import { settingsFrom, type Settings } from './settings.ts';
import type { OpenSites } from './sites.ts';
import { TicketShop } from './ticket-shop.ts';
import { waitsView } from './waits.ts';

/**
 * The minimum time between two drawings, so that drawing adds little to the shown latencies. The
 * plot takes most of the time.
 */
const DRAW_EVERY_MS = 100;
const PLOT_EVERY_MS = 500;

/**
 * Returns a function that draws at once after a pause, and otherwise at most every `ms`
 * milliseconds. The last change is always drawn.
 */
function atMostEvery(ms: number, draw: () => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let drawnAt = -Infinity;
  return () => {
    if (timer !== undefined) return;
    timer = setTimeout(
      () => {
        timer = undefined;
        drawnAt = performance.now();
        draw();
      },
      Math.max(0, drawnAt + ms - performance.now()),
    );
  };
}

/** The options for the page of another backend. */
export interface ShopPageOptions {
  /** The settings of the page. Default: those of its address */
  readonly query?: URLSearchParams;
  readonly openSites?: OpenSites;
  /** Creates an additional part of the page, which is redrawn after every change. */
  readonly view?: (shop: TicketShop) => () => void;
}

/** Opens the page with the settings of its address, and sells. */
export async function openShopPage(options: ShopPageOptions = {}): Promise<void> {
  const { query = new URLSearchParams(location.search) } = options;
  try {
    await sell(settingsFrom(query), options);
  } catch (error) {
    showFailure(error);
    byId('shop', HTMLElement).hidden = true;
    throw error;
  }
}

async function sell(settings: Settings, { openSites, view }: ShopPageOptions): Promise<void> {
  const changed = atMostEvery(DRAW_EVERY_MS, () => show());
  const shop = new TicketShop(settings, changed, openSites);
  const showWaits = atMostEvery(PLOT_EVERY_MS, waitsView(shop));
  const tabs = new OtherTabs(shop.sale.event, () => shop.change({}));
  const parts = [
    overviewView(shop, tabs),
    presetsView(shop),
    setupView(shop),
    byHandView(shop),
    showWaits,
    purchaseListView(shop),
  ];
  if (view !== undefined) parts.push(view(shop));
  const show = (): void => {
    follow(shop.sale.event, tabs);
    for (const part of parts) part();
  };
  show();
  await shop.open();
  if (settings.autostart && shop.phase === 'ready') await shop.start();
}

/** Notifies the other tabs of a new event, and keeps an address that names one up to date. */
function follow(event: string, tabs: OtherTabs): void {
  tabs.sell(event);
  const address = new URL(location.href);
  const named = address.searchParams.get('event');
  if (named === null || named === event) return;
  address.searchParams.set('event', event);
  history.replaceState(null, '', address);
}
