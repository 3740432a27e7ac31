import { useCorrectable, useOperation } from 'correctables/react';
import { bikes } from './contract.ts';

/** After these failures of a write, the bike may be rented. */
const MAY_BE_RENTED = ['UNKNOWN', 'FINAL_FAILED'];

export function Bike({ id, rider }: { id: number; rider: string }) {
  const { view, pending, error, refresh } = useCorrectable(bikes.bike({ id }), { suspend: false });
  const [rent, rental] = useOperation(() => bikes.rent({ id, rider }), {
    // Shown at once. When the primary has answered, the page shows what is true.
    affects: (affect) =>
      affect(bikes.bike({ id }), (bike) => bike && { ...bike, rider: bike.rider ?? rider }),
  });

  const again = error && <button onClick={() => refresh()}>Try again</button>;
  if (!view && error)
    return (
      <p>
        not available ({error.code}) {again}
      </p>
    );
  if (!view) return <p>loading</p>;
  if (!view.value) return <p>There is no bike {id}.</p>;
  const winner = rental.value?.rider;
  return (
    <article>
      <h2>{view.value.name}</h2>
      <p>
        {view.value.rider === null ? 'free' : `rented by ${view.value.rider}`}
        {pending ? ' …' : error ? ` (not current: ${error.code})` : ''}
      </p>
      {again}
      <button disabled={rental.pending} onClick={() => void rent().catch(() => {})}>
        Rent
      </button>
      {winner === rider && <p role="status">It is yours.</p>}
      {winner && winner !== rider && <p role="status">Not yours: {winner} was faster.</p>}
      {rental.error && (
        <p role="status">
          {MAY_BE_RENTED.includes(rental.error.code) ? 'Not known' : 'Not rented'} (
          {rental.error.code})
        </p>
      )}
    </article>
  );
}
