/** How many tickets are left: at once what the nearest site knows, then what is true everywhere. */
import type { CorrectableError } from 'correctables';

export interface Stock {
  readonly value: number | undefined;
  readonly final: boolean;
  readonly error: CorrectableError | undefined;
}

export function TicketsLeft({ value, final, error }: Stock) {
  const certainty = error ? 'not current' : final ? 'certain' : 'probably';
  return (
    <p className="stock" data-certainty={certainty}>
      <strong>
        {value === 0 ? 'Sold out' : `${value} ${value === 1 ? 'ticket' : 'tickets'} left`}
      </strong>
      <span className="badge">{certainty}</span>
    </p>
  );
}
