import { CorrectablesProvider } from 'correctables/react';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';
import { client } from './client.ts';
import './style.css';

// In a session, the customer never sees a stock from before their own purchase.
const session = client.session();

createRoot(document.querySelector('#root')!).render(
  <StrictMode>
    <CorrectablesProvider client={client} session={session} refreshOn={['focus', 'online']}>
      <App />
    </CorrectablesProvider>
  </StrictMode>,
);
