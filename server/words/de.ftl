# Die Texte der Seiten auf Deutsch. Sie sprechen niemanden mit „du“ oder „Sie“ an.

## What is around each page
language-offer = Diese Seite gibt es auch auf Deutsch.
site = Website
nav-all = Alles
nav-groups = Gruppen
nav-feed = Feed
nav-post = Schreiben
nav-moderation = Moderation
skip = Zum Inhalt springen
keyboard = Tastatur
footer-comments = Kommentare
moderation-log = Moderationsprotokoll
page-about = Über uns
page-rules = Regeln
page-privacy = Datenschutz
page-legal = Impressum
welcome-about = Mehr dazu
rss = RSS
graphql = GraphQL
search = Suche
log-in = Anmelden
log-out = Abmelden
register = Registrieren
inbox = Posteingang
unseen-word = neu
waiting-word = wartend
theme-dark = Dunkles Design verwenden
theme-light = Helles Design verwenden
logged-out = Abgemeldet.
logged-in-as = Angemeldet als { $name }.
still-logged-in = Die Abmeldung ist fehlgeschlagen. { $reason }
keys-not-shown = Die Tasten können nicht angezeigt werden: Der Server ist nicht erreichbar.
needs-script = Für diese Seite wird JavaScript benötigt.
votes-need-script = Zum Abstimmen und Kommentieren wird JavaScript benötigt.
dismiss = Schließen
undo = Rückgängig
loading = Wird geladen …
try-again = Erneut versuchen
not-loaded = Diese Seite konnte nicht geladen werden.
cancel = Abbrechen
close = Schließen
more = Mehr
more-about = Mehr: { $name }
delete = Löschen
deleted = Gelöscht
save = Speichern
preview = Vorschau
title-of-page = { $title }, Seite { $page }
pages = Seiten
previous = ← Zurück
next = Weiter →
not-found = Nicht gefunden
not-found-text = Unter dieser Adresse gibt es nichts. Zur <link>Startseite</link>.
go-to-front-page = Zur <link>Startseite</link>.
new-order = Neue Reihenfolge

## Times
just-now = gerade eben
minutes-ago = vor { $count } Min.
hours-ago = vor { $count } Std.
days-ago =
    { $count ->
        [one] vor { $count } Tag
       *[other] vor { $count } Tagen
    }
months-ago =
    { $count ->
        [one] vor { $count } Monat
       *[other] vor { $count } Monaten
    }
years-ago =
    { $count ->
        [one] vor { $count } Jahr
       *[other] vor { $count } Jahren
    }
edited-at = bearbeitet <time/>
joined-at = Beigetreten <time/>
karma-joined = { $karma } Karma, beigetreten <time/>
joined-lower = beigetreten <time/>

## Counts
number = { $count }
votes =
    { $count ->
        [one] { $count } Stimme
       *[other] { $count } Stimmen
    }
comments =
    { $count ->
        [one] { $count } Kommentar
       *[other] { $count } Kommentare
    }
articles =
    { $count ->
        [one] { $count } Artikel
       *[other] { $count } Artikel
    }
followers =
    { $count ->
        [one] { $count } Follower
       *[other] { $count } Follower
    }
following-count = folgt { $count }
replies =
    { $count ->
        [one] { $count } Antwort
       *[other] { $count } Antworten
    }
more-replies =
    { $count ->
        [one] { $count } weitere Antwort
       *[other] { $count } weitere Antworten
    }
flags =
    { $count ->
        [one] { $count } Meldung
       *[other] { $count } Meldungen
    }
karma-of = { $karma } Karma
karma-strong = <strong>{ $karma }</strong> Karma
articles-and-followers = { $articles }, { $followers }
new-articles =
    { $count ->
        [one] { $count } neuer Artikel
       *[other] { $count } neue Artikel
    }
new-comments =
    { $count ->
        [one] { $count } neuer Kommentar
       *[other] { $count } neue Kommentare
    }
new-users =
    { $count ->
        [one] { $count } neues Mitglied
       *[other] { $count } neue Mitglieder
    }
new-groups =
    { $count ->
        [one] { $count } neue Gruppe
       *[other] { $count } neue Gruppen
    }
new-texts =
    { $count ->
        [one] { $count } neuer Text
       *[other] { $count } neue Texte
    }
new-notifications =
    { $count ->
        [one] { $count } neue Nachricht
       *[other] { $count } neue Nachrichten
    }
new-actions =
    { $count ->
        [one] { $count } neue Maßnahme
       *[other] { $count } neue Maßnahmen
    }
new-things =
    { $count ->
        [one] { $count } neuer Eintrag
       *[other] { $count } neue Einträge
    }
new-matches =
    { $count ->
        [one] { $count } neuer Treffer
       *[other] { $count } neue Treffer
    }
new-appeals =
    { $count ->
        [one] { $count } neuer Einspruch
       *[other] { $count } neue Einsprüche
    }
comments-new = , { $count } neu

## Orders and lists of articles
lists = Listen
orders = Reihenfolgen
top = Die meisten Stimmen
order-score = Punkte
order-score-title = Artikel nach Punkten
order-score-what = Was neu ist und Stimmen hat; jede Stimme zählt gleich viel.
order-time = Neu
order-time-title = Neue Artikel
order-time-what = Das Neueste zuerst.
order-hot = Angesagt
order-hot-title = Angesagte Artikel
order-hot-what = Was neu ist und Stimmen hat; die ersten Stimmen zählen am meisten.
order-gravity = Schwerkraft
order-gravity-title = Artikel nach Schwerkraft
order-gravity-what = Stimmen gemessen am Alter; mit der Zeit sinkt alles.
order-active = Aktiv
order-active-title = Aktive Artikel
order-active-what = Was zuletzt kommentiert wurde.
order-best = Beste
order-best-title = Beste Artikel
order-best-what = Wofür fast alle stimmen, unabhängig vom Alter.
order-votes = Stimmen
order-votes-title = Artikel mit den meisten Stimmen
order-votes-what = Die meisten Stimmen aller Zeiten.
order-controversial = Umstritten
order-controversial-title = Umstrittene Artikel
order-controversial-what = Viele Stimmen, ebenso viele dagegen wie dafür.
list-day = Tag
list-day-title = Tag: die meisten Stimmen
list-day-lower = die meisten Stimmen des Tages
list-day-empty = An diesem Tag wurde nichts eingereicht.
list-week = Woche
list-week-title = Woche: die meisten Stimmen
list-week-lower = die meisten Stimmen der Woche
list-week-empty = In dieser Woche wurde nichts eingereicht.
list-month = Monat
list-month-title = Monat: die meisten Stimmen
list-month-lower = die meisten Stimmen des Monats
list-month-empty = In diesem Monat wurde nichts eingereicht.
list-good = Gute
list-good-title = Gute Artikel
list-good-of-day = Gute Artikel vom { $day }
list-good-day = Tag (UTC)
list-good-empty = Noch kein Artikel hat genügend Stimmen.
no-articles = Hier gibt es noch keine Artikel.

## An article and its comments
vote-up = Dafür stimmen
vote-down = Dagegen stimmen
voting-closed = Die Abstimmung ist beendet
voting-locked = Der Artikel ist geschlossen
sentence = { $text }.
vote-not-counted = Die Stimme wurde nicht gezählt. { $reason }
log-in-to-vote = Zum Abstimmen bitte anmelden.
discuss = diskutieren
deleted-title = Gelöscht: { $title }
article = Artikel
comment = Kommentar
article-locked = Dieser Artikel ist geschlossen
article-locked-rest = Er nimmt keine Stimmen und keine Kommentare an.
article-locked-hint = Der Artikel ist geschlossen: Er nimmt keine Kommentare an.
article-closed-hint = Der Artikel nimmt keine Kommentare mehr an.
article-waits-hint = Der Artikel nimmt noch keine Kommentare an.
article-removed = Die Moderation hat diesen Artikel entfernt
article-waits = Dieser Artikel wartet auf die Moderation
article-deleted = Dieser Artikel wurde gelöscht.
only-you-see = Nur Verfasser und Moderation sehen ihn.
only-poster-sees = Nur Verfasser und Moderation sehen ihn.
edit = Bearbeiten
delete-article-question = Diesen Artikel löschen?
delete-article-consequence = Er wird mit allen Kommentaren gelöscht und kann nicht wiederhergestellt werden.
article-not-deleted = Der Artikel wurde nicht gelöscht. { $reason }
own-article-deleted = Der Artikel ist gelöscht.
order-of-comments = Reihenfolge der Kommentare
comments-best = Beste
comments-votes = Stimmen
comments-newest = Neueste
comments-oldest = Älteste
comments-controversial = Umstritten
first-comments = Die ersten Kommentare
more-comments = Weitere Kommentare
no-comments = Es gibt noch keine Kommentare.
log-in-to-comment = <link>Anmelden</link>, um zu kommentieren.
your-comment = Kommentar
comment-by = Kommentar von { $name }
comment-by-title = Kommentar von { $name }
nobody = niemandem
comment-removed-name = entfernter Kommentar
comment-deleted-name = gelöschter Kommentar
absent-removed = entfernt
absent-deleted = gelöscht
comment-deleted = Dieser Kommentar wurde gelöscht
comment-removed = Dieser Kommentar wurde von der Moderation entfernt
comment-waits = Dieser Kommentar wartet auf die Moderation
comment-without-text = Dieser Kommentar hat keinen Text
only-you-read = Nur Verfasser und Moderation lesen ihn.
only-poster-reads = Nur Verfasser und Moderation lesen ihn.
fold = Einklappen
fold-name = { $name } mit Antworten anzeigen
unfold-key = Ausklappen (x)
fold-key = Einklappen (x)
only-this-comment = Nur dieser Kommentar und die Antworten darauf
poster = Verfasser
badge-new = neu
in-reply-to = Antwort auf
you-block = <name/> ist blockiert.
show-text = Text anzeigen
hide-text = Text ausblenden
named-action = { $action }: { $name }
reply = Antworten
reply-to = Antwort an { $name }
reply-to-comment = Antwort auf diesen Kommentar
your-reply = Zur eigenen Antwort
log-in-to-reply = Zum Antworten bitte anmelden.
comment-verb = Kommentieren
comment-is-deleted = Der Kommentar ist gelöscht.
comment-not-deleted = Der Kommentar wurde nicht gelöscht. { $reason }
delete-comment-question = Den Kommentar löschen?
delete-comment-consequence = Text und Name werden entfernt. Die Antworten darauf bleiben.
comment-held = Der Kommentar wartet auf die Moderation. Bis dahin sehen ihn nur Verfasser und Moderation.
comment-posted-before = Dieser Kommentar wurde bereits abgeschickt und inzwischen gelöscht.
comment-changed = Der Kommentar ist geändert.
edit-comment = Kommentar bearbeiten
comments-further-down =
    { $count ->
        [one] { $count } neuer Kommentar steht weiter unten.
       *[other] { $count } neue Kommentare stehen weiter unten.
    }
comments-since-visit =
    { $count ->
        [one] { $count } Kommentar seit dem letzten Besuch
       *[other] { $count } Kommentare seit dem letzten Besuch
    }
next-new-comment = Nächster neuer Kommentar (w)
next-new = Nächster
comment-on = zu <article/>
comment-on-title = Kommentar zu { $title }
comment-on-link = Kommentar zu <link/>
one-comment = Ein Kommentar und die Antworten darauf
the-article = Der Artikel
all-comments-count = Alle { $count } Kommentare
comments-above =
    { $count ->
        [one] { $count } Kommentar darüber
       *[other] { $count } Kommentare darüber
    }
same-link-before = Derselbe Link wurde schon einmal eingereicht: <link/>
article-gone = Dieser Artikel wurde mit seinen Kommentaren gelöscht oder entfernt. Zur <link>Startseite</link>.
removed = Entfernt
comment-removed-by-moderator = Die Moderation hat diesen Kommentar entfernt
voters-item = Wer dafür gestimmt hat
voters-title = Wer dafür gestimmt hat
voters-none = Niemand.
what-moderators-did = Was die Moderation getan hat
host-and-poster = { $host }, eingereicht von { $name }
posted-by = eingereicht von { $name }

## Comments of the site
comments-title = Kommentare
comments-in = Kommentare in { $group }
only-in-group = Nur zu Artikeln in <group/>. <all>Alle Kommentare</all>
no-comments-here = Hier gibt es noch keine Kommentare.

## Groups
groups-title = Gruppen
no-groups = Es gibt noch keine Gruppen. Wer einen Artikel schreibt, nennt die Gruppen dazu.
no-group-of-name = So kann keine Gruppe heißen.
begin-group = Die Gruppe { $name } entsteht mit ihrem ersten Artikel: <link>Artikel schreiben</link>.
post-here = Hier schreiben
about-group = Über die Gruppe { $name }
articles-in = Artikel in { $title }
edit-group = Gruppe bearbeiten
group = Gruppe
group-changed = Die Gruppe ist geändert.
group-title = Titel
group-title-hint = Ohne Titel steht dort { $name }.
group-belongs = Was hierher gehört
add-group = Gruppe hinzufügen
add-the-group = Gruppe hinzufügen
group-is-there = Die Gruppe { $name } ist angelegt.
group-name = Name
group-name-hint = 1 bis 50 Zeichen aus a-z, 0-9, _ und -, etwa programming.
group-shown-title-hint = Was statt des Namens zu sehen ist.
find-group = Gruppe suchen
find = Suchen
name-of-group = Name der Gruppe
all-groups = Alle Gruppen
completions = Vorschläge

## Users
articles-and-comments-of = Artikel und Kommentare von { $name }
user-articles = Artikel
user-comments = Kommentare
no-articles-yet = Noch keine Artikel.
no-comments-yet = Noch keine Kommentare.
no-followers-yet = Noch keine Follower.
follows-nobody = Folgt noch niemandem.
parts = Bereiche
about-user = Über { $name }
banned = Von dieser Website ausgeschlossen
banned-until = Von dieser Website ausgeschlossen bis { $until }
follow = Folgen
follow-name = { $name } folgen
following = Gefolgt
following-name = Gefolgt: { $name }
log-in-to-follow = Um { $name } zu folgen, bitte anmelden.
still-followed = { $name } wird weiterhin gefolgt. { $reason }
not-followed = { $name } wird nicht gefolgt. { $reason }
block = Blockieren
block-name = { $name } blockieren
blocked-verb = Blockiert
blocked-name = Blockiert: { $name }
log-in-to-block = Um { $name } zu blockieren, bitte anmelden.
still-blocked = { $name } ist weiterhin blockiert. { $reason }
not-blocked = { $name } ist nicht blockiert. { $reason }
unblocked = { $name } ist nicht mehr blockiert.
now-blocked = { $name } ist blockiert. Niemand sonst erfährt davon.
your-account = Eigenes Konto
profile-link = Profil
settings-link = Einstellungen
followed-groups-link = Gefolgte Gruppen
saved-link = Gemerkt
hidden-link = Ausgeblendet
blocked-link = Blockiert
held-link = Zurückgehaltene Texte

## Search
search-title = Suche: { $words }
search-hint = Wörter in das Suchfeld eingeben. Gefunden wird, was alle Wörter enthält; „Wörter in Anführungszeichen“ müssen genau so vorkommen.
what-to-find = Was gesucht wird
search-order = Reihenfolge
find-everything = Alles
find-articles = Artikel
find-comments = Kommentare
find-users = Mitglieder
best-match = Beste Treffer
matches-newest = Neueste
most-votes = Meiste Stimmen
found-nothing = Nichts enthält alle diese Wörter.
found-no-text = Kein Artikel und kein Kommentar enthält alle diese Wörter.
found-many = Mehr als { $count } Treffer.
found =
    { $count ->
        [one] { $count } Treffer.
       *[other] { $count } Treffer.
    }
did-you-mean = Vielleicht gemeint: <link/>
users-found = Mitglieder
user-name = Mitglied { $name }
all-users = Alle { $count } Mitglieder
search-too-long = Die Suchanfrage ist zu lang: Sie darf höchstens { $count } Zeichen haben.
search-unavailable = Die Suche ist nicht verfügbar. Diese Website hat keine Datenbank, oder sie antwortet im Moment nicht.

## Forms
form-article = Artikel
field-title = Titel
field-link = Link
field-link-hint = Eine Adresse, die mit https:// oder http:// beginnt. Nicht nötig, wenn es einen Text gibt.
field-text = Text
field-groups = Gruppen
field-groups-hint = Höchstens 10 Namen, durch Leerzeichen getrennt, etwa programming show.
markdown-hint = Markdown: *Betonung*, `Code`, > Zitat, [ein Link](https://…), @name.
most-characters = Höchstens { $most } Zeichen.
characters-of = { $count } von { $most } Zeichen
posted-before = Eingereicht <time/>, { $comments }: <link/>
title-asked = Der Titel der Seite wird abgefragt …
page-calls-itself = Die Seite heißt „<title/>“.
take-title = Diesen Titel übernehmen
post-title = Artikel schreiben
members-post = Nur Mitglieder können Artikel schreiben.
post = Abschicken
article-posted-before = Dieser Artikel wurde bereits abgeschickt und inzwischen gelöscht.
article-held = Der Artikel wartet auf die Moderation. Bis dahin sehen ihn nur Verfasser und Moderation.
article-posted = Der Artikel ist veröffentlicht.
edit-article-title = Artikel bearbeiten
only-poster-edits = Nur wer <link>diesen Artikel</link> geschrieben hat, kann ihn bearbeiten.
article-changed = Der Artikel ist geändert.
edit-waits = Die Änderung wartet auf die Moderation. Bis dahin lesen andere den alten Text.
held-edit = Die wartende Änderung
own-edit-waits = Die eigene Änderung wartet auf die Moderation, <time/>: <why/>. Bis dahin lesen andere den alten Text.
an-edit-waits = Eine Änderung wartet auf die Moderation, <time/>: <why/>.
waits-because = { $said }: { $why }
held-words = Ein Wort darin wird erst geprüft
held-domains = Eine Domain darin wird erst geprüft
held-first-texts = Die ersten Texte eines Kontos werden geprüft
held-links = Links neuer Konten werden geprüft
held-repeated-text = Ein Text wiederholt sich
held-check = Die Textprüfung bittet um eine Durchsicht
held-rule = Die Regel { $rule } verlangt eine Durchsicht

## Keys of the keyboard
keys-use = Diese Tasten verwenden
key-j = nächster Artikel oder Kommentar
key-k = voriger Artikel oder Kommentar
key-o = Link öffnen
key-c = Kommentare öffnen
key-u = dafür stimmen oder die Stimme zurücknehmen
key-d = dagegen stimmen oder die Stimme zurücknehmen
key-r = auf einen Kommentar antworten
key-e = eigenen Kommentar oder Artikel bearbeiten
key-f = einer Gruppe oder einem Mitglied folgen oder nicht mehr folgen
key-m = Menü eines Artikels oder Kommentars öffnen
key-w = nächster Kommentar, der seit dem letzten Besuch neu ist
key-x = einen Kommentar mit Antworten ein- oder ausklappen
key-y = warum ein Artikel steht, wo er steht
key-n = nächste Seite
key-p = vorige Seite oder der beantwortete Kommentar
key-search = suchen
key-help = diese Tasten anzeigen
key-approve = freigeben, was auf die Moderation wartet, oder einen Einspruch beantworten
key-remove = entfernen oder eine Maßnahme aufheben, mit Begründung
key-lock = einen Artikel schließen
key-enter = die Seite für die Moderation öffnen

## The menu of a line, and what one keeps or hides
flag-item = Melden …
moderate = Moderieren
log-in-to-flag = Zum Melden bitte anmelden.
save-item = Merken
unsave-item = Nicht mehr merken
log-in-to-save = Zum Merken bitte anmelden.
saved = Gemerkt: { $name }.
not-saved = Nicht gemerkt: { $name }. { $reason }
still-saved = Weiterhin gemerkt: { $name }. { $reason }
saved-no-more = Nicht mehr gemerkt: { $name }.
hide-item = Ausblenden
unhide-item = Nicht mehr ausblenden
log-in-to-hide = Zum Ausblenden bitte anmelden.
hidden-from-home = In Übersicht und Feed ausgeblendet: { $title }.
hidden-no-more = Nicht mehr ausgeblendet: { $title }.
not-hidden = Nicht ausgeblendet: { $title }. { $reason }
still-hidden = Weiterhin ausgeblendet: { $title }. { $reason }
hidden-name = Ausgeblendet: { $title }
hidden-line = Ausgeblendet: <title/>
undo-hide = Rückgängig: { $title } ausblenden
saved-title = Gemerkt
saved-first = Was über das Menü einer Zeile gemerkt wurde, steht hier und ist nur für einen selbst sichtbar.
saved-only-you = Was gemerkt ist, sieht sonst niemand.
nothing-saved = Nichts ist gemerkt. Im Menü jeder Zeile steht „Merken“.
hidden-title = Ausgeblendet
hidden-first = Was über das Menü einer Zeile ausgeblendet wurde, steht hier und ist nur für einen selbst sichtbar.
hidden-what = Diese Artikel stehen weder in der Übersicht noch im Feed. Niemand sonst erfährt davon.
nothing-hidden = Nichts ist ausgeblendet. Im Menü jeder Zeile steht „Ausblenden“.
do-not-hide = Nicht ausblenden
hide-again = Wieder ausblenden
blocked-title = Blockiert
blocked-first = Mitglieder, die auf ihrer Seite blockiert wurden, stehen hier. Das ist nur für einen selbst sichtbar.
blocked-what = Artikel der Blockierten stehen weder in der Übersicht noch im Feed, ihre Antworten nicht im Posteingang, und ihre Kommentare sind eingeklappt. Niemand sonst erfährt davon.
blocks-nobody = Niemand ist blockiert. Auf der Seite jedes Mitglieds steht „Blockieren“.
followed-groups-title = Gefolgte Gruppen
followed-groups-first = Hier stehen die gefolgten Gruppen.
followed-groups-what = Ihre Artikel stehen in der Übersicht. <link>Alle Gruppen</link>
follows-no-groups = Noch wird keiner Gruppe gefolgt. In der Liste aller Gruppen steht „Folgen“.
home = Übersicht
home-first = Hier stehen die Artikel der gefolgten Gruppen, ohne das Ausgeblendete.
home-of = Übersicht: { $what }
home-order-score = Artikel nach Punkten
home-order-time = neue Artikel
home-order-hot = angesagte Artikel
home-order-gravity = Artikel nach Schwerkraft
home-order-active = aktive Artikel
home-order-best = beste Artikel
home-order-votes = Artikel mit den meisten Stimmen
home-order-controversial = umstrittene Artikel
home-no-groups = Noch wird keiner Gruppe gefolgt, darum steht hier die ganze Website. <link>Gruppen auswählen</link>
home-groups =
    Die Artikel von <link>{ $count ->
        [one] { $count } gefolgten Gruppe
       *[other] { $count } gefolgten Gruppen
    }</link>
feed-title = Feed
feed-first = Der Feed enthält die Artikel der Mitglieder, denen gefolgt wird, die neuesten zuerst.
feed-empty = Hier ist noch nichts. Wer Mitgliedern folgt, findet ihre Artikel hier, die neuesten zuerst.
inbox-title = Posteingang
inbox-first = Im Posteingang stehen Antworten auf eigene Texte und Texte, die einen erwähnen.
inbox-empty = Hier ist noch nichts. Antworten und Texte mit dem eigenen @Namen kommen hierher.
what-it-answers = Worauf es antwortet
mentioned-you = hat dieses Konto erwähnt
replied-to-comment = hat auf den Kommentar geantwortet
replied-to-article = hat auf den Artikel geantwortet
not-seen = { $count } ungelesen
mark-all-seen = Alle als gelesen markieren
mark-not-moved = Die Markierung wurde nicht gesetzt. { $reason }
new-dot = Neu
held-title = Zurückgehaltene Texte
held-first = Hier stehen eigene Texte, die die Moderation entfernt hat oder die auf sie warten.
held-what = Eigene Texte, die sonst nur die Moderation liest.
nothing-held = Kein Text wird zurückgehalten.
moderator-removed-it = Die Moderation hat den Text entfernt
it-waits = Der Text wartet auf die Moderation

## To log in
log-in-or-register = oder <link>registrieren</link>
log-in-at = Anmelden bei { $host }
log-in-with = Anmelden mit { $issuer }
log-in-ended = Diese Anmeldung ist abgelaufen, wurde schon benutzt oder in einem anderen Browser begonnen. Bitte noch einmal beginnen.
log-in-refused = Die Anmeldung dort ist nicht gelungen. Niemand ist angemeldet.
log-in-later = Das geht gerade nicht. Bitte später noch einmal versuchen.
no-passwords = Diese Website hat keine eigenen Passwörter: Die Anmeldung geschieht mit einem Konto bei einem anderen Dienst.
nobody-logs-in = Auf diesen Seiten kann sich niemand anmelden.
name = Name
password = Passwort
forgot-password = Passwort vergessen?
new-here = Neu hier?
registered-already = Schon registriert?
username-hint = 2 bis 20 Zeichen: A-Z, a-z, Ziffern, _ und -. Alle können ihn sehen.
password-hint = Mindestens 8 Zeichen.
registration-closed = Auf dieser Website kann sich niemand registrieren.
registration-invited = Auf dieser Website kann sich nur registrieren, wer eingeladen ist: bitte den Link der Einladung öffnen.
forgotten-title = Passwort vergessen
forgotten-without-mail = Diese Website verschickt keine Mails. Wer sie betreibt, kann einen Link geben, um ein neues Passwort zu wählen.
send-link = Link zusenden
name-or-address = Name oder Adresse
name-or-address-hint = An die bestätigte Adresse geht eine Mail mit einem Link, um ein neues Passwort zu wählen.
mail-if-known = Falls es ein solches Mitglied mit bestätigter Adresse gibt, ist eine Mail unterwegs.
choose-password = Passwort wählen
password-of = Für das Konto <user/>.
link-incomplete = Dieser Link ist unvollständig: bitte genau so öffnen, wie er ankam, oder <link>einen neuen anfordern</link>.
set-password = Passwort setzen
new-password = Neues Passwort
new-password-hint = Mindestens 8 Zeichen. Alle anderen Sitzungen enden.
password-set = Das Passwort ist gesetzt. Angemeldet als { $name }.
confirm-title = Adresse bestätigen
mails-go-here = Mails gehen ab jetzt an diese Adresse.
mail-link-incomplete = Dieser Link ist unvollständig: bitte den aus der Mail genau so öffnen, wie er dort steht.
confirm-address = Adresse bestätigen
confirm-text = Diese Adresse wurde für das Konto angegeben. Bitte nur bestätigen, wenn das stimmt.
address-confirmed = Die Adresse ist bestätigt.

## Settings
settings = Einstellungen
settings-first = Hier lassen sich das Profil bearbeiten und die eigenen Anmeldungen ansehen.
change-password = Passwort ändern
current-password = Bisheriges Passwort
password-changed = Das Passwort ist geändert. Die anderen Sitzungen sind beendet.
profile = Profil
save-profile = Profil speichern
profile-changed = Das Profil ist geändert.
display-name = Angezeigter Name
display-name-hint = Ohne ihn steht dort { $name }.
about-you = Über mich
picture-address = Adresse eines Bildes
picture-hint = Angezeigt werden Bilder von { $hosts }; ohne Bild wird eines aus dem Namen gezeichnet.
theme = Design
theme-choice-system = Wie das System
theme-choice-light = Hell
theme-choice-dark = Dunkel
mail = Mail
mail-never = Nie
mail-at-once = Sofort
mail-daily = Einmal am Tag
mail-weekly = Montags
mails-go-to = Mails gehen an { $address }.
address-use = Mit einer Adresse lässt sich ein vergessenes Passwort neu wählen.
address-pending = { $address } ist noch nicht bestätigt: bitte den Link in der Mail dorthin öffnen.
send-again = Noch einmal senden
sent-again = Die Mail ist noch einmal unterwegs.
address-refused = Der Mailserver hat diese Adresse abgelehnt, darum gehen keine Mails dorthin.
change-address = Adresse ändern
address = Adresse
address-hint = Sonst sieht sie niemand. Leer lassen, um sie zu entfernen.
address-password = Passwort, um die Adresse zu ändern
address-mailed = Eine Mail an { $address } enthält einen Link zum Bestätigen.
address-removed = Die Adresse ist entfernt.
replies-by-mail = Antworten per Mail
mail-inbox = Per Mail schicken, was im Posteingang ankommt
saved-setting = Gespeichert.
proof-confirmed = Der Link in der Mail hat die Anmeldung bestätigt.
proof-no-password = Dieses Konto hat hier kein Passwort: Dafür darf die Anmeldung höchstens fünf Minuten zurückliegen.
proof-mail-sent = Eine Mail ist unterwegs: bitte den Link darin in diesem Browser öffnen.
proof-send = Stattdessen einen Link per Mail zusenden
refused-wrong-password = das ist nicht das bisherige Passwort
refused-old-log-in = die Anmeldung ist dafür zu lange her: bitte abmelden und neu anmelden
sessions-title = Wo dieses Konto angemeldet ist
session-agent = { $program } unter { $system }
session-no-agent = Ein Programm, das seinen Namen nicht nennt
session-current = (dieser Browser)
session-used = Benutzt <used/>, angemeldet <opened/>
log-out-there = Dort abmelden
logged-out-there = Dort abgemeldet.
log-out-else = Überall sonst abmelden
logged-out-else = Überall sonst abgemeldet.
your-data = Eigene Daten
your-data-text = Alles, was diese Website über das Konto speichert, als ZIP-Datei mit JSON-Zeilen. Das geht einmal in der Stunde.
download-data = Daten herunterladen
data-collected = Die Daten werden zusammengestellt …
data-downloaded = Die Daten sind heruntergeladen.
delete-account = Konto löschen
delete-account-text = Name, Profil, Adresse und alles, dem gefolgt wird, verschwinden endgültig, und der Name wird nie wieder vergeben. Die Stimmen zählen weiter, aber ohne den Namen.
my-texts = Eigene Artikel und Kommentare
texts-stay = Sie bleiben, ohne den Namen
texts-go = Sie werden ebenfalls gelöscht
delete-account-password = Passwort, um das Konto zu löschen
delete-account-question = Das Konto löschen?
delete-account-texts-stay = Das lässt sich nicht rückgängig machen. Artikel und Kommentare bleiben, ohne den Namen.
delete-account-texts-go = Das lässt sich nicht rückgängig machen. Artikel und Kommentare werden ebenfalls gelöscht.
delete-my-account = Konto löschen
account-deleted = Das Konto ist gelöscht.

## What moderators did, for whom it concerns
your-ban = Ausschluss
banned-for-good = Dieses Konto ist endgültig von dieser Website ausgeschlossen
you-are-banned-until = Dieses Konto ist bis { $until } von dieser Website ausgeschlossen
ban-text = Lesen ist weiterhin möglich, auch im <link>Posteingang</link>, und einmal auch ein Einspruch. Schreiben, Kommentieren, Abstimmen, Folgen und Melden sind nicht möglich.
appeal = Einspruch erheben
send-appeal = Einspruch absenden
your-appeal = Einspruch
appeal-hint = Bitte begründen, was daran falsch ist. Einspruch ist einmal möglich; nur die Moderation liest ihn.
appeal-sent = Die Moderation liest den Einspruch.
appealed = Einspruch <time/>: <text/>
appeal-answered = Antwort von <user/> <time/>: <text/>
appeal-will-be-read = Die Moderation wird ihn lesen.
said-annulled = Die Moderation hat Stimmen dieses Kontos annulliert: Sie zählen nicht mehr
said-approved = Die Moderation hat { $thing } freigegeben
said-banned = Ausgeschlossen von { $place }, { $end }
said-was-banned = War ausgeschlossen von { $place }, { $end }
said-granted = Neue Rolle: { $role }
said-granted-some = Dieses Konto hat eine Rolle auf dieser Website bekommen
said-locked = Die Moderation hat { $thing } geschlossen
said-purged = Die Moderation hat { $thing } endgültig gelöscht
said-edit-rejected = Die Moderation hat die Änderung für { $thing } abgelehnt
said-out-of-group = Die Moderation hat den Artikel aus { $place } herausgenommen
said-removed = Die Moderation hat { $thing } entfernt
said-revoked = Nicht mehr: { $role }
said-revoked-some = Diesem Konto wurde eine Rolle auf dieser Website entzogen
said-restored-votes = Die Moderation hat Stimmen dieses Kontos wiederhergestellt: Sie zählen wieder
said-disapproved = Die Moderation hat die Freigabe für { $thing } zurückgenommen
said-unbanned = Die Moderation hat den Ausschluss aufgehoben: { $place }
said-unlocked = Die Moderation hat { $thing } wieder geöffnet
said-back-in-group = Die Moderation hat den Artikel in { $place } wieder zugelassen
said-restored = Die Moderation hat { $thing } wiederhergestellt
said-role-again = Wieder: { $role }
said-role-again-some = Dieses Konto hat eine Rolle auf dieser Website zurückbekommen
said-took-back = Die Moderation hat eine Entscheidung über { $thing } zurückgenommen
thing-article = den Artikel
thing-comment = den Kommentar
thing-account = das Konto
place-site = dieser Website
place-group = der Gruppe { $group }
end-for-good = endgültig
end-until = bis { $until }
role-admin = Admin
role-moderator-of = Moderation { $place }
role-moderator = Moderation

## The log of moderation. Before and after `<subject/>` stands what was done to it
did-annul = hat Stimmen annulliert: <subject/>
did-approve = hat <subject/> freigegeben
did-ban = hat <subject/> { $end } von { $place } ausgeschlossen
did-grant = hat die Rolle { $role } gegeben: <subject/>
did-grant-some = hat eine Rolle auf dieser Website gegeben: <subject/>
did-lock = hat <subject/> geschlossen
did-purge = hat <subject/> endgültig gelöscht
did-reject-edit = hat eine Änderung abgelehnt: <subject/>
did-out-of-group = hat <subject/> aus { $place } herausgenommen
did-remove = hat <subject/> entfernt
did-revoke = hat die Rolle { $role } entzogen: <subject/>
did-revoke-some = hat eine Rolle auf dieser Website entzogen: <subject/>
did-restore-votes = hat Stimmen wiederhergestellt: <subject/>
did-disapprove = hat die Freigabe zurückgenommen: <subject/>
did-unban = hat den Ausschluss von { $place } aufgehoben: <subject/>
did-unlock = hat <subject/> wieder geöffnet
did-back-in-group = hat <subject/> in { $place } wieder zugelassen
did-restore = hat <subject/> wiederhergestellt
did-role-again = hat die Rolle { $role } zurückgegeben: <subject/>
did-role-again-some = hat eine Rolle auf dieser Website zurückgegeben: <subject/>
did-take-back = hat eine Entscheidung über <subject/> zurückgenommen
with-ban = mit dem Ausschluss des Kontos
with-ban-reverted = der Ausschluss des Kontos wurde aufgehoben
named-at-start = beim ersten Start durch UPVOTE_ADMIN benannt
by-shell = durch einen Befehl der Shell
all-reverted = alle Entscheidungen dieses Kontos seit damals werden zurückgenommen
must-not-stay = dies darf nicht stehen bleiben
subject-them = dieses Konto
subject-it = dies
a-comment-on = einen <link>Kommentar zu <title/></link>
thing-of-type =
    { $type ->
        [article] Artikel { $name }
        [comment] Kommentar { $name }
        [user] Mitglied { $name }
       *[other] { $type } { $name }
    }
for-moderators = <strong>Für die Moderation:</strong> { $note }
all-about-it = Alles dazu
reverted-by = Aufgehoben von <user/> <time/>
log-what = Was die Moderation getan hat und warum. <link>Wer moderiert</link>
log-empty = Die Moderation hat hier noch nichts getan.
log-only-about = Nur, was { $subject } betrifft. <all>Das ganze Protokoll</all>
log-only-in = Nur, was in <group/> geschehen ist. <all>Das ganze Protokoll</all>
log-only-about-in = Nur, was { $subject } betrifft und in <group/> geschehen ist. <all>Das ganze Protokoll</all>
operator = Betreiber
on-title = zu <link/>

## Flags
flag-question = Melden?
flag-text = Die Moderation sieht es sich an: { $name }
flag = Melden
flag-why = Warum?
flag-spam = Es ist Werbung oder von einem Programm geschrieben
flag-abuse = Es greift jemanden an
flag-off-topic = Es gehört nicht hierher
flag-illegal = Es verstößt gegen das Gesetz
flag-other = Aus einem anderen Grund
note = Notiz
flag-note-hint = Was die Moderation wissen sollte. Sonst liest das niemand.
unflag-question = Die Meldung zurückziehen?
unflag = Meldung zurückziehen
unflagged = Die Meldung ist zurückgezogen.
not-flagged-before = Es war nicht gemeldet.
you-flagged = Gemeldet <time/>: { $reason }.
flagged-now = Danke: Die Moderation sieht es sich an.
flagged-before = Nichts hat sich geändert: Es war schon so gemeldet, oder die Moderation hat es inzwischen freigegeben.

## Pages of moderators
only-moderators = Nur für die Moderation
only-moderators-text = Diese Seite ist für alle, die diese Website oder eine ihrer Gruppen moderieren.
moderation = Moderation
moderation-of = Moderation: { $name }
queue-flagged = Gemeldet { $count }
queue-pending = Wartend { $count }
queue-appeals = Einsprüche { $count }
queues = Warteschlangen
places = Bereiche
roles-and-groups = Rollen und Gruppen
pending-empty = Nichts wartet auf Freigabe.
flagged-empty = Keine Meldung wartet.
appeals-empty = Kein Einspruch wartet auf eine Antwort.
posted-at = eingereicht <time/>
flagged-at = gemeldet <time/>
what-waits-in-group = Was in dieser Gruppe wartet
waits-no-longer = Dies wartet nicht mehr.
whole-site = Die ganze Website
give-role = Rolle vergeben
give-the-role = Rolle vergeben
role = Rolle
role-option-moderator = Moderation
role-option-admin = Admin
name-of-user = Name des Mitglieds
role-group-hint = Leer für die ganze Website. Admins gelten für die ganze Website.
reason = Begründung
reason-hint = Alle können sie im Protokoll lesen.
has-role = { $name } hat die Rolle.
has-role-already = { $name } hat die Rolle bereits.
is-no-longer = { $name } ist nicht mehr { $role }.
take-role-question = Die Rolle entziehen?
is-role-of = { $name }: { $role } von { $place }.
take-role = Rolle entziehen
take-role-from = { $name } die Rolle entziehen: { $role }
is-role-since = <user/>: { $role }, <time/>
no-moderators = Keine eigene Moderation.
more-not-listed = Hier nicht aufgeführt: { $count } weitere.
roles-no-groups = Es gibt noch keine Gruppen.
no-such-group = Es gibt keine Gruppe dieses Namens.
invite = Jemanden einladen
invite-text = Wer den Link bekommt, kann sich damit innerhalb einer Woche einmal registrieren.
make-link = Link erzeugen
make-another-link = Weiteren Link erzeugen
invitation-made = Eine Einladung ist erzeugt.
invitation-link = Link der Einladung
invitation-hint = Er wird nur jetzt gezeigt und gilt bis { $until }.
copy-link = Link kopieren
link-copied = Der Link ist kopiert.
link-not-copied = Der Link kann hier nicht kopiert werden: bitte markieren.
do-approve = Freigeben
do-reject = Ablehnen
do-reject-edit = Änderung ablehnen
do-remove = Entfernen
do-lock = Schließen
do-annul = Annullieren
do-annul-votes = Stimmen annullieren
do-ban = Ausschließen
do-revert = Aufheben
do-answer = Beantworten
field-answer = Antwort
done-approve = Freigegeben.
done-reject = Abgelehnt: Der alte Text bleibt.
done-remove = Entfernt.
done-lock = Geschlossen.
done-annul = Die Stimmen zählen nicht mehr.
done-ban = Ausgeschlossen.
done-revert = Aufgehoben.
done-answer = Beantwortet.
done-same = Das war schon so: Nichts hat sich geändert.
ask-approve = { $name } freigeben
ask-reject = Änderung ablehnen: { $name }
ask-remove = { $name } entfernen
ask-lock = { $name } schließen
ask-ban = <user/> ausschließen
ask-annul = Stimmen annullieren von <user/>
ask-annul-each = Stimmen von { $count } Konten annullieren
annulled-accounts = Konten, deren Stimmen annulliert sind: { $done } von { $total }.
not-annulled = Nicht annulliert: { $failures } Ein neuer Versuch gilt den übrigen.
not-annulled-why = { $name }: { $reason }
ask-revert = Aufheben: { $said }
ask-answer = Den Einspruch beantworten gegen: { $said }
everywhere = Überall
where = Wo
in-group = Die Gruppe { $group }
out-of-group = Aus der Gruppe { $group }
ban-group-hint = Ohne Gruppe gilt der Ausschluss für die ganze Website.
how-long = Wie lange
ban-remove-texts = Dort auch alle Artikel und Kommentare entfernen
ban-annul-votes = Alle Stimmen annullieren, wenn der Ausschluss für die ganze Website gilt
which-votes = Welche Stimmen
keep-annulled = Die Stimmen annulliert lassen
answer-hint = Wer den Einspruch erhoben hat, liest sie.
reason-if-any = Begründung, falls es eine gibt
reason-in-log = Alle lesen sie im Protokoll.
note-hint = Nur die zuständige Moderation liest sie.
one-day = 1 Tag
one-week = 1 Woche
thirty-days = 30 Tage
one-year = 1 Jahr
for-good = Endgültig
votes-all = Alle bisherigen
votes-of-day = Die des letzten Tages
votes-of-week = Die der letzten Woche
votes-of-thirty-days = Die der letzten 30 Tage
said-by = { $name }: { $said }
desk-reverted-by = aufgehoben von <user/> <time/>
desk-note = Notiz: { $note }
desk-appeal = Einspruch <time/>
desk-answered = Beantwortet von <user/> <time/>
a-comment = einen Kommentar
progress-of = { $done } von { $total }
annulled-so-far = Bisher annullierte Stimmen: { $progress }.
votes-do-not-count =
    { $count ->
        [one] { $count } Stimme zählt nicht.
       *[other] { $count } Stimmen zählen nicht.
    }
annulled-since = Stimmen von vor { $time } sind vielleicht unberührt: Der Server kennt sie nicht.
restored-so-far = Bisher wiederhergestellte Stimmen: { $progress }.
votes-count-again = Die Stimmen zählen wieder.
its-page = Zur Seite
not-your-group = Es steht in keiner Gruppe, die man selbst moderiert.
not-on-your-own = Es ist der eigene Text: Andere aus der Moderation entscheiden darüber.
not-on-their-role = Wer es veröffentlicht hat, hat hier dieselbe oder eine höhere Rolle: Darüber entscheidet eine höhere.
not-banned-by-you = Dieses Konto hat dieselbe oder eine höhere Rolle und kann nicht von hier ausgeschlossen werden.
action-key = { $name } ({ $key })
approved-name = Freigegeben: { $name }.
approved-before = Das war bereits freigegeben.
not-approved = Es wurde nicht freigegeben. { $reason }
actions-of-moderators = Maßnahmen der Moderation
no-actions = Die Moderation hat hierzu noch nichts unternommen.
thread-around = Die Kommentare ringsum
context-empty = Es gibt keine Kommentare.
comment-without-a-text = Kommentar ohne Text
state-pending = wartend
state-removed = entfernt
state-deleted = gelöscht
state-pending-text = Es wird nicht gezeigt: Es wartet auf die Moderation.
state-held = Es wird nicht gezeigt und wartet auf die Moderation: <why/>.
state-removed-text = Die Moderation hat es entfernt. Verfasser und Moderation sehen es.
state-deleted-text = Es wurde gelöscht.
state-locked = Geschlossen: Es nimmt keine Stimmen und keine Kommentare an.
out-of-groups = Nicht in den eigenen Gruppen
out-of-groups-text = Es wurde aus einer Gruppe genommen und ist in keiner, die man selbst moderiert. Es ist nicht sichtbar und daher nicht zu lesen.
gone-removed = Die Moderation hat es entfernt, und es ist in keiner Gruppe, die man selbst moderiert.
go-to-queue = Zu dem, <link>was wartet</link>.
nothing-with-id = Es gibt nichts mit dieser Kennung, oder es wurde gelöscht.
flags-summary = { $flags }: { $summary }
flagged-because = <user/> { $reason } <time/>
reason-spam = Werbung
reason-abuse = Angriff
reason-off-topic = nicht zum Thema
reason-illegal = rechtswidrig
reason-other = anderer Grund
count-of-reason = { $count } { $reason }
no-actions-user = Die Moderation hat zu diesem Mitglied noch nichts unternommen.
all-actions-in-log = Alle { $count } Maßnahmen im Protokoll
history-banned = Endgültig von dieser Website ausgeschlossen.
history-banned-until = Bis { $until } von dieser Website ausgeschlossen.
newest-texts = Neueste Texte
kind-comment = Kommentar
text-deleted = gelöscht
ring-title =
    { $count ->
        [one] In einem Ring von { $count } Konto
       *[other] In einem Ring von { $count } Konten
    }
ring-text = { $votes } füreinander, von denen der Zufall { $expected } erklärt. Jedes Konto hat für { $coverage } % der Texte der anderen gestimmt. Gefunden: <time/>
ring-more = und { $count } weitere
ring-moves = Werden alle Stimmen annulliert, verlieren Artikel { $articleVotes } und Kommentare { $commentVotes }; nach Punkten bewegt das { $articles } mit solchen Stimmen.
ring-annulled =
    { $count ->
        [one] Die Stimmen von { $count } Konto sind schon annulliert.
       *[other] Die Stimmen von { $count } Konten sind schon annulliert.
    }
ring-left-out = Ausgenommen: { $names }. Die eigenen Stimmen und die von Konten mit derselben oder einer höheren Rolle lassen sich nicht von hier annullieren.
annul-ring =
    { $count ->
        [one] Stimmen von { $count } Konto annullieren
       *[other] Stimmen von { $count } Konten annullieren
    }
ring-loses = verliert { $votes }: Platz { $place } → { $newPlace }

## What went wrong
too-many-requests = Zu viele Anfragen. { $when }
too-often = Das war zu oft. { $when }
try-at = Bitte um { $time } noch einmal versuchen.
try-later = Bitte später noch einmal versuchen.
server-unavailable = Der Server ist im Moment nicht verfügbar.
server-unavailable-because = Das geht im Moment nicht: { $message }
server-unreachable = Der Server ist nicht erreichbar.
offline = Keine Verbindung zum Internet.
session-ended = Die Sitzung ist beendet. Bitte neu anmelden.
session-ended-write = Die Sitzung ist beendet. Zum Abstimmen und Schreiben bitte neu anmelden.

## The page that ends mails
mails-about-replies = Mails über Antworten
mails-what = { $site } verschickt per Mail, was im Posteingang ankommt.
mails-end = Keine solchen Mails mehr
mails-ended = Es kommen keine Mails über Antworten mehr. In den Einstellungen lassen sie sich wieder einschalten.
mails-wrong-link = Dieser Link ist nicht gültig. Vielleicht wurde er abgeschnitten, oder es gibt das Konto nicht mehr.
mails-not-now = Das geht gerade nicht: bitte in einer Minute noch einmal versuchen.

## Mails, in der Sprache der Website
mail-confirm-subject = Adresse für { $site } bestätigen
mail-confirm = Diese Adresse wurde für das Konto { $name } bei { $site } angegeben.
mail-confirm-do = Die Adresse bestätigen
mail-confirm-rest = Der Link gilt einen Tag, und ein Knopf dort bestätigt die Adresse. Wer dieses Konto nicht hat, braucht nichts zu tun.
mail-identity-subject = Bestätigung für das Konto bei { $site }
mail-identity = Jemand ist als { $name } bei { $site } angemeldet und will das Konto löschen oder seine Adresse ändern.
mail-identity-do = In den Einstellungen weitermachen
mail-identity-rest = Der Link gilt einmal und eine Stunde lang. War das jemand anderes, ist nichts zu tun: Nichts hat sich geändert. In den Einstellungen steht, wo das Konto angemeldet ist.
mail-change-subject = Die Adresse bei { $site } soll sich ändern
mail-change = Für das Konto { $name } bei { $site } wurde eine andere Adresse angegeben. Bis sie bestätigt ist, bleibt diese.
mail-not-you = War das jemand anderes:
mail-change-password = Passwort ändern
mail-new-password = Neues Passwort anfordern
mail-removal-subject = Die Adresse bei { $site } wurde entfernt
mail-removal = Diese Adresse wurde aus dem Konto { $name } bei { $site } entfernt. Mit ihr lässt sich kein neues Passwort mehr anfordern.
mail-reset-subject = Das Passwort bei { $site }
mail-how-subject = Die Anmeldung bei { $site }
mail-reset = Jemand hat bei { $site } ein neues Passwort angefordert.
mail-reset-do = Neues Passwort für { $name } wählen
mail-reset-rest =
    { $count ->
        [one] Dieser Link gilt
       *[other] Diese Links gelten
    } einmal und eine Stunde lang.
mail-no-password = { $name } hat kein Passwort: Anmelden wie bisher
mail-nothing-changed = War das jemand anderes, ist nichts zu tun: Nichts hat sich geändert.
mail-replies-subject =
    { $count ->
        [one] { $count } neue Nachricht
       *[other] { $count } neue Nachrichten
    } bei { $site }
mail-mentioned = Erwähnt von { $name } in „{ $title }“
mail-wrote = Antwort von { $name } in „{ $title }“
mail-more = Und { $count } weitere
mail-why = Diese Mail geht an { $name }.
mail-end = Keine solchen Mails mehr

## Feeds, in der Sprache der Website
feed-comments = Kommentare

## Why the server refuses something. In English it says so itself
refused = Das ist nicht möglich
request-failed = Die Anfrage ist fehlgeschlagen
refused-already-reverted = Diese Maßnahme wurde bereits aufgehoben
refused-bad-credentials = Der Name oder das Passwort ist falsch
refused-bad-token = Dieser Link wurde schon benutzt, ist abgelaufen oder unvollständig
refused-banned = Dieses Konto ist hier ausgeschlossen
refused-banned-until = Dieses Konto ist hier bis { $until } ausgeschlossen
refused-forbidden = Das gehört jemand anderem oder ist nicht sichtbar
refused-idempotency-mismatch = Das wurde schon einmal mit anderem Inhalt abgeschickt
refused-locked = Der Artikel ist geschlossen: Er nimmt keine Stimmen und keine Kommentare an
refused-not-a-moderator = Das kann nur die zuständige Moderation
refused-not-found = Das gibt es nicht oder nicht mehr
refused-not-offered = Das ist auf dieser Website abgeschaltet
refused-self-follow = Sich selbst kann man nicht folgen
refused-username-taken = Dieser Name ist vergeben
refused-voting-closed = Die Abstimmung ist beendet
refused-invalid = Dieser Wert ist nicht zulässig
refused-invalid-title = Ein Titel hat 1 bis 300 Zeichen (bei Gruppen 100) und ändert die Schreibrichtung nicht
refused-invalid-link = Ein Link ist eine vollständige http- oder https-Adresse ohne Zugangsdaten; ein Artikel hat einen Link, einen Text oder beides
refused-invalid-content = Der Text ist leer oder zu lang
refused-invalid-text = Der Text ist leer oder zu lang
refused-invalid-reason = Eine Begründung hat 1 bis 1.000 Zeichen
refused-invalid-note = Eine Notiz hat höchstens 5.000 Zeichen
refused-invalid-about = Die Beschreibung ist zu lang
refused-invalid-groups = Ein Artikel steht in höchstens 10 Gruppen; ein Gruppenname hat 1 bis 50 Zeichen aus a-z, 0-9, _ und - und ist nicht reserviert
refused-invalid-group = Ein Gruppenname hat 1 bis 50 Zeichen aus a-z, 0-9, _ und - und ist nicht reserviert; man folgt höchstens 500 Gruppen
refused-invalid-subject-id = Das ist damit nicht möglich, oder es sind schon so viele wie erlaubt
refused-invalid-article-id = Das ist damit nicht möglich, oder es sind schon so viele ausgeblendet wie erlaubt
refused-invalid-user-id = Das ist damit nicht möglich, oder es sind schon so viele blockiert wie erlaubt
refused-invalid-username = Ein Name hat 2 bis 20 Zeichen aus A-Z, a-z, 0-9, _ und - und ist nicht reserviert
refused-invalid-password = Ein Passwort hat 8 bis 128 Zeichen und gehört nicht zu den häufigsten
refused-invalid-new-password = Ein Passwort hat 8 bis 128 Zeichen und gehört nicht zu den häufigsten
refused-invalid-email = Das ist keine Adresse, an die Mails gehen können
refused-invalid-avatar-url = Bilder kommen nur von den genannten Hosts
refused-invalid-until = Ein Ausschluss endet in der Zukunft
refused-rule = Die Regeln dieser Website lassen das nicht zu
refused-rule-words = Der Text enthält Wörter, die hier nicht angenommen werden
refused-rule-domains = Der Text nennt eine Website, die hier nicht angenommen wird
refused-rule-check = Die Textprüfung nimmt den Text nicht an
refused-rule-repeated-text = Dieser Text wurde schon einmal geschrieben
refused-rule-first-texts = Die ersten Texte eines Kontos warten auf die Moderation
refused-rule-texts-a-day =
    Ein Konto, das jünger als { $younger_than_days ->
        [one] { $younger_than_days } Tag
       *[other] { $younger_than_days } Tage
    } ist, schreibt höchstens { $most } Texte am Tag
refused-rule-links =
    Für Links braucht es { $least_age_days ->
        [0] ein Konto mit mindestens { $least_karma } Karma
        [one] ein Konto, das mindestens einen Tag alt ist
       *[other] ein Konto, das mindestens { $least_age_days } Tage alt ist
    }{ $least_karma ->
        [0] { "" }
       *[other] { $least_age_days ->
            [0] { "" }
           *[other] { " " }und mindestens { $least_karma } Karma hat
        }
    }
refused-rule-votes =
    Zum Abstimmen braucht es { $least_age_days ->
        [0] ein Konto mit mindestens { $least_karma } Karma
        [one] ein Konto, das mindestens einen Tag alt ist
       *[other] ein Konto, das mindestens { $least_age_days } Tage alt ist
    }{ $least_karma ->
        [0] { "" }
       *[other] { $least_age_days ->
            [0] { "" }
           *[other] { " " }und mindestens { $least_karma } Karma hat
        }
    }
refused-rule-downvotes =
    Um dagegen zu stimmen, braucht es { $least_age_days ->
        [0] ein Konto mit mindestens { $least_karma } Karma
        [one] ein Konto, das mindestens einen Tag alt ist
       *[other] ein Konto, das mindestens { $least_age_days } Tage alt ist
    }{ $least_karma ->
        [0] { "" }
       *[other] { $least_age_days ->
            [0] { "" }
           *[other] { " " }und mindestens { $least_karma } Karma hat
        }
    }
refused-rule-registrations = Von einer Adresse werden höchstens { $a_day } Konten am Tag registriert

## Why an article stands where it does
standing-place = Platz { $rank } nach { $order }
standing-place-in-group = Platz { $rank } nach { $order } in { $group }
standing-place-on-site = Platz { $rank } nach { $order } auf der ganzen Website
standing-home = Die Artikel der Übersicht stehen in derselben Reihenfolge.
standing-none = Hier hat er keinen Platz mehr.
standing-first = Er ist der erste.
standing-no-votes = In dieser Reihenfolge zählen Stimmen nicht.
standing-closed = Die Abstimmung ist beendet.
standing-stays = Auch mit mehr Stimmen bleibt er hinter dem Artikel darüber.
standing-missing =
    { $count ->
        [one] Mit 1 Stimme mehr steht er vor dem Artikel darüber.
       *[other] Mit { $count } Stimmen mehr steht er vor dem Artikel darüber.
    }
part-votes = Stimmen
part-age = Alter
part-since-the-newest-comment = seit dem neuesten Kommentar
part-upvotes = Stimmen dafür
part-downvotes = Stimmen dagegen
part-share-of-upvotes = Anteil der Stimmen dafür
part-uncertainty = Unsicherheit
part-all-votes = alle Stimmen
part-imbalance = Ungleichgewicht
