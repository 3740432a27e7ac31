/** The ticket shop's page: puts its parts together and starts the sale. */
import { byHandView } from './by-hand.ts';
import { byId } from './dom.ts';
import { overviewView, showFailure } from './overview.ts';
import { purchaseListView } from './purchase-list.ts';
import { settingsFrom, type Settings } from './settings.ts';
import { TicketShop } from './ticket-shop.ts';
import { waitsView } from './waits.ts';

/** Draws at most once a frame, however many changes there were. */
function oncePerFrame(draw: () => void): () => void {
  let asked = false;
  return () => {
    if (asked) return;
    asked = true;
    requestAnimationFrame(() => {
      asked = false;
      draw();
    });
  };
}

async function sell(settings: Settings): Promise<void> {
  const shop = new TicketShop(
    settings,
    oncePerFrame(() => show()),
  );
  const [showOverview, showByHand] = [overviewView(shop), byHandView(shop)];
  const [showWaits, showPurchases] = [waitsView(settings), purchaseListView()];
  const show = (): void => {
    showOverview();
    showByHand();
    showWaits(shop.sale);
    showPurchases(shop.sale);
  };
  show();
  await shop.open();
  if (settings.autostart && shop.phase === 'ready') await shop.start();
}

try {
  await sell(settingsFrom(new URLSearchParams(location.search)));
} catch (error) {
  showFailure(error);
  byId('shop', HTMLElement).hidden = true;
  throw error;
}
