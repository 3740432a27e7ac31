/**
 * A process that keeps the routes of a JSON file open: `tsx engines/delay-proxy-process.ts
 * ROUTES.json`.
 */
import { readFileSync } from 'node:fs';
import { openRoute, type Route } from './delay-proxy.ts';

const [file] = process.argv.slice(2);
if (file === undefined) throw new Error('name the file with the routes');
const routes = JSON.parse(readFileSync(file, 'utf8')) as Route[];
await Promise.all(routes.map(openRoute));
console.log(`${routes.length} routes are open`);
