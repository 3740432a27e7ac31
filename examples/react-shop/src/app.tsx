/** The pages: the program, and one concert. */
import { useCorrectable, usePrefetch } from 'correctables/react';
import { startTransition, Suspense, useState } from 'react';
import { concerts, THRESHOLD, type Concert } from './concerts.ts';
import { shop } from './contract.ts';
import { Purchase } from './purchase.tsx';
import { TicketsLeft } from './tickets-left.tsx';

export function App() {
  const [concert, setConcert] = useState<Concert>();
  const open = (next: Concert | undefined) => startTransition(() => setConcert(next));
  return (
    <>
      <header className="top">
        <button className="brand" type="button" onClick={() => open(undefined)}>
          Night Tickets
        </button>
        <span className="place">Singapore</span>
      </header>
      <main>
        {concert ? (
          <ConcertPage concert={concert} onBack={() => open(undefined)} />
        ) : (
          <Program onOpen={open} />
        )}
      </main>
    </>
  );
}

function Program({ onOpen }: { onOpen: (concert: Concert) => void }) {
  const prefetch = usePrefetch();
  return (
    <>
      <h1>This week</h1>
      <ul className="program">
        {concerts.map((concert) => {
          // The stock is there, or on its way, when the customer clicks.
          const begin = () => void prefetch(shop.ticketsLeft({ concert: concert.id }));
          return (
            <li key={concert.id}>
              <button
                className="card"
                type="button"
                onMouseEnter={begin}
                onFocus={begin}
                onClick={() => onOpen(concert)}
              >
                <Poster concert={concert} />
                <span className="card-text">
                  <strong>{concert.artist}</strong>
                  <span>{concert.place}</span>
                  <span>{concert.date}</span>
                </span>
              </button>
            </li>
          );
        })}
      </ul>
      <p className="note">
        While {THRESHOLD} tickets or more are left, you get your answer from the nearest site, at
        once. The last ones are sold in one order, and the answer takes a trip to Ireland.
      </p>
    </>
  );
}

function ConcertPage({ concert, onBack }: { concert: Concert; onBack: () => void }) {
  return (
    <article className="concert">
      <button className="back" type="button" onClick={onBack}>
        ← This week
      </button>
      <div className="concert-body">
        <Poster concert={concert} />
        <div>
          <h1>{concert.artist}</h1>
          <p className="where">
            {concert.place} · {concert.date}
          </p>
          <Suspense fallback={<p className="stock">…</p>}>
            <Offer concert={concert.id} />
          </Suspense>
        </div>
      </div>
    </article>
  );
}

/** The stock, and the button. Only a final view of the stock can say that nothing is left. */
function Offer({ concert }: { concert: string }) {
  const { value, final, error } = useCorrectable(shop.ticketsLeft({ concert }));
  return (
    <>
      <TicketsLeft value={value} final={final} error={error} />
      <Purchase concert={concert} isSoldOut={final && value === 0} />
    </>
  );
}

function Poster({ concert: { artist, poster } }: { concert: Concert }) {
  const initials = artist.replaceAll(/\b(The|the|&)\b/g, '').match(/\b[A-Z]/g) ?? [];
  return (
    <span
      className="poster"
      aria-hidden="true"
      style={{ backgroundImage: `linear-gradient(140deg, ${poster.join()})` }}
    >
      {initials.slice(0, 2).join('')}
    </span>
  );
}
