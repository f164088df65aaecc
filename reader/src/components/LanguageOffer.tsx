import { useLocation } from "wouter";
import { addressIn, dismissOffer, useOffer } from "../language";
import { t } from "../words";

/** A line that leads to the page in the language of the browser, until it is dismissed. Nothing moves for it. */
export function LanguageOffer() {
  useLocation(); // it leads to the page that is shown
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
