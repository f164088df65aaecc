import { useLocation } from "wouter";
import { addressIn, dismissOffer, useOffer } from "../language";
import { t } from "../words";

/** A line that leads to the page in the language of the browser, until it is dismissed. It moves nothing on the page. */
export function LanguageOffer() {
  useLocation(); // renders it again when another page is shown: the link leads to that page
  const offer = useOffer();
  if (!offer) return null;
  return (
    <aside className="status offer" lang={offer.code} dir="auto">
      <a href={addressIn(offer.code)} hrefLang={offer.code}>
        {offer.text}
      </a>
      <button type="button" onClick={dismissOffer} aria-label={t("dismiss")}>
        ×
      </button>
    </aside>
  );
}
