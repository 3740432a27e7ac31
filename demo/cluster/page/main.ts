/** The ticket shop's page on a cluster. */
import { openShopPage } from '../../tickets/page/shop-page.ts';
import { clusterView } from './cluster-view.ts';
import { openClusterSites } from './sites.ts';

/** The default settings: sales are slow enough to kill a site in the middle of one. */
const DEFAULTS = { pace: '250', compare: '0' };

const query = new URLSearchParams({
  ...DEFAULTS,
  ...Object.fromEntries(new URLSearchParams(location.search)),
});
await openShopPage({ query, openSites: openClusterSites, view: clusterView });
