/** How many tickets are left: at once what the nearest site knows, then what is true everywhere. */
import { useCorrectable } from 'correctables/react';
import { shop } from './contract.ts';

export function TicketsLeft({ concert }: { concert: string }) {
  const { value, final, error } = useCorrectable(shop.ticketsLeft({ concert }));
  const certainty = error ? 'not current' : final ? 'certain' : 'probably';
  return (
    <p className="stock" data-certainty={certainty}>
      <strong>{value === 0 ? 'Sold out' : `${value} ${value === 1 ? 'ticket' : 'tickets'} left`}</strong>
      <span className="badge">{certainty}</span>
    </p>
  );
}
