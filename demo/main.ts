/** `npm run demo`: the ticket shop's backend and page, until interrupted. */
import { startShop } from './tickets/server.ts';
import { untilInterrupted } from './until-interrupted.ts';

const shop = await startShop({ port: Number(process.env['PORT'] ?? 7400) });
console.log(`The ticket shop is open: ${shop.url}`);
console.log('Three sites (irl, frk, vrg) with the delays of the Correctables paper between them. Ctrl-C closes it.');
await untilInterrupted();
await shop.close();
