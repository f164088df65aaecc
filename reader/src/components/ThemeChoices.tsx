import "./menu.css";
import { chooseTheme, useThemeChoice, type ThemeChoice } from "../theme";
import { t } from "../words";

const CHOICES: readonly ThemeChoice[] = ["system", "light", "dark"];

/** The part of the settings in which light or dark colours are chosen, for this browser. */
export function ThemeChoices() {
  const chosen = useThemeChoice();
  return (
    <section aria-labelledby="theme">
      <h2 id="theme">{t("theme")}</h2>
      <fieldset className="reasons" aria-labelledby="theme">
        {CHOICES.map((choice) => (
          <label key={choice}>
            <input type="radio" name="theme" checked={choice === chosen} onChange={() => chooseTheme(choice)} />
            {t(`theme-choice-${choice}`)}
          </label>
        ))}
      </fieldset>
    </section>
  );
}
