/** The ticket shop's page. */
import { openShopPage } from './shop-page.ts';

await openShopPage();
