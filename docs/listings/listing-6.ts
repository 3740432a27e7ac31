/**
 * Listing 6 (Correctables, OSDI 2016, §4.4): a news reader on a phone shows what it has and gets
 * fresher. One logical access; the binding makes three of it: to the phone's cache, the closest
 * backup, and the distant primary.
 */
import { createClient, type Operation } from 'correctables';
import { withDetails, tiered, skipLevel } from 'correctables/bindings/tiered';

interface Edition {
  readonly revision: number;
  readonly items: readonly string[];
}

const getLatestNews = (): Operation<readonly string[]> => ({
  name: 'latestNews',
  args: {},
  access: 'read',
});

const latest = new Map<string, Edition>(); // the phone's cache
const backup: Edition = { revision: 2, items: ['Storm nears', 'Cup final tonight'] };
const primary: Edition = { revision: 3, items: ['Storm passes', 'Cup final tonight'] };

const news = createClient(
  tiered(
    ['cache', 'backup', 'primary'],
    {
      cache: ({ name }) => show(latest.get(name)),
      backup: async () => show(backup),
      primary: async ({ name }) => {
        latest.set(name, primary); // for the next time
        return show(primary);
      },
    },
    { mode: 'sequential' },
  ),
);

/**
 * An edition as a view: its revision keeps an older one that comes late from replacing it on the
 * screen.
 */
function show(edition: Edition | undefined): unknown {
  return edition === undefined
    ? skipLevel
    : withDetails(edition.items, { version: edition.revision });
}

function refreshDisplay(items: readonly string[], level: string): void {
  console.log(`${level}: ${items.join(' · ')}`);
}

async function openReader(): Promise<void> {
  await news.invoke(getLatestNews()).setCallbacks({
    onUpdate: (items, { level }) => refreshDisplay(items, level),
    onFinal: (items, { level, confirms }) =>
      confirms ? console.log('up to date') : refreshDisplay(items, level),
  });
}

await openReader(); // nothing in the phone's cache yet: its level is skipped
await openReader(); // the cache has the primary's edition, so the backup's older one is not shown

await news.close();
