/** How long customers wait for their final, from a queue and by rights, against the tickets that are left. */
import { waitsFigure } from '../tickets/figure.ts';
import { LAST_TICKETS, salesOf } from './rows.ts';
import type { Placement, RoundSale } from './sales.ts';

const CONTENDERS = [
  { stock: 'queue', label: 'from a queue', color: '#8a4f9e' },
  { stock: 'rights', label: 'by rights', color: '#1f6fc4' },
] as const;

/** The plot of one placement as SVG text. */
export function rightsFigure(placement: Placement, tickets: number, sales: readonly RoundSale[]): string {
  const contenders = CONTENDERS.map(({ stock, ...shown }) => {
    return { ...shown, sales: salesOf(sales, placement, stock).map(({ sale }) => sale.purchases) };
  });
  const [first] = contenders;
  const title = `${tickets} tickets, retailers: ${placement}; mean wait of a customer over ${first?.sales.length} sales`;
  return waitsFigure(title, {
    stock: tickets,
    mark: { at: LAST_TICKETS, label: `the last ${LAST_TICKETS}` },
    contenders,
  });
}
