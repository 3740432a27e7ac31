/** `npm run demo`: what there is to see. For now the ticket shop: backend and page, until interrupted. */
import './tickets/cli.ts';
