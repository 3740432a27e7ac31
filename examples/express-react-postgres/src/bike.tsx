import { useCorrectable, useOperation } from 'correctables/react';
import { bikes } from './contract.ts';

export function Bike({ id, rider }: { id: number; rider: string }) {
  const { view, pending, error } = useCorrectable(bikes.bike({ id }), { suspend: false });
  const [rent, rental] = useOperation(() => bikes.rent({ id, rider }), {
    // Shown at once. When the primary has answered, the page shows what is true.
    affects: (affect) => affect(bikes.bike({ id }), (bike) => bike && { ...bike, rider: bike.rider ?? rider }),
  });

  if (!view) return <p>{error ? `not available (${error.code})` : 'loading'}</p>;
  if (!view.value) return <p>There is no bike {id}.</p>;
  const winner = rental.value?.rider;
  return (
    <article>
      <h2>{view.value.name}</h2>
      <p>
        {view.value.rider === null ? 'free' : `rented by ${view.value.rider}`}
        {pending ? ' …' : error ? ` (not current: ${error.code})` : ''}
      </p>
      <button disabled={rental.pending} onClick={() => void rent().catch(() => {})}>
        Rent
      </button>
      {winner === rider && <p role="status">It is yours.</p>}
      {winner && winner !== rider && <p role="status">Not yours: {winner} was faster.</p>}
      {rental.error && <p role="status">Not known ({rental.error.code}): look again.</p>}
    </article>
  );
}
