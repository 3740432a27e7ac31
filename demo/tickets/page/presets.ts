/** Three sales to try, each started by one button. */
import { byId } from '../../shared/page/dom.ts';
import { RUSH_CUSTOMERS } from './manual-purchase.ts';
import type { Settings } from './settings.ts';
import type { TicketShop } from './ticket-shop.ts';

interface Preset {
  /** The id of its button. */
  readonly id: string;
  readonly settings: Pick<Settings, 'threshold' | 'paceMs' | 'tickets' | 'retailers'>;
  /** Whether many customers come at once when the sale has begun. */
  readonly hasRush?: true;
}

const RETAILERS = ['frankfurt', 'ireland', 'virginia', 'frankfurt'] as const;

const NORMAL: Preset['settings'] = {
  tickets: 500,
  threshold: 20,
  paceMs: 80,
  retailers: RETAILERS,
};

const PRESETS: readonly Preset[] = [
  { id: 'preset-normal', settings: NORMAL },
  {
    id: 'preset-no-margin',
    settings: {
      tickets: 200,
      threshold: 0,
      paceMs: 0,
      retailers: [...RETAILERS, 'ireland', 'virginia'],
    },
  },
  { id: 'preset-rush', settings: NORMAL, hasRush: true },
];

export function presetsView(shop: TicketShop): () => void {
  const buttons = PRESETS.map((preset) => {
    const button = byId(preset.id, HTMLButtonElement);
    button.addEventListener('click', () => {
      if (!shop.isOpen) return;
      for (const other of buttons) other.classList.toggle('primary', other === button);
      void sell(shop, preset);
    });
    return button;
  });
  return () => {
    for (const button of buttons) button.setAttribute('aria-disabled', String(!shop.isOpen));
  };
}

function sell(shop: TicketShop, { settings, hasRush }: Preset): Promise<void> {
  shop.change({ ...settings, sales: 1 });
  const rush = { site: settings.retailers[0] as string, customers: RUSH_CUSTOMERS };
  return shop.start({ isNew: shop.sale.tickets !== settings.tickets, ...(hasRush && { rush }) });
}
