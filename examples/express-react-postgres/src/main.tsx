import { CorrectablesProvider } from 'correctables/react';
import { createRoot } from 'react-dom/client';
import { Bike } from './bike.tsx';
import { client } from './client.ts';

const rider = new URLSearchParams(location.search).get('rider') ?? 'Ada';

createRoot(document.querySelector('#root')!).render(
  <CorrectablesProvider client={client} session={client.session()}>
    <main>
      <h1>Bikes for {rider}</h1>
      <Bike id={1} rider={rider} />
      <Bike id={2} rider={rider} />
      <Bike id={3} rider={rider} />
    </main>
  </CorrectablesProvider>,
);
