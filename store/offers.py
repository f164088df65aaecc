"""What a site offers to those who come to it: who may register, passwords, pictures of users, lists of voters."""

from dataclasses import dataclass
from enum import Enum

from store.errors import NotOffered


class Registration(Enum):
    OPEN = "open"
    INVITED = "invited"
    CLOSED = "closed"


class VoterReaders(Enum):
    """Who may read the list of those who voted an article up."""

    EVERYBODY = "everybody"
    MODERATORS = "moderators"
    NOBODY = "nobody"


@dataclass(frozen=True, slots=True)
class Offers:
    """`avatar_hosts` are the hosts from which pages show pictures of users."""

    registration: Registration = Registration.OPEN
    has_passwords: bool = True
    avatar_hosts: tuple[str, ...] = ()
    voters: VoterReaders = VoterReaders.EVERYBODY

    def require_passwords(self) -> None:
        """
        Raises:
            NotOffered: the site has no passwords of its own.
        """
        if not self.has_passwords:
            raise NotOffered("this site has no passwords of its own")

    def require_not_closed(self) -> None:
        """
        Raises:
            NotOffered: the site has no passwords, or nobody may register, invited or not.
        """
        self.require_passwords()
        if self.registration is Registration.CLOSED:
            raise NotOffered("nobody can register on this site")

    def require_registration(self, invitation: str | None) -> None:
        """
        Raises:
            NotOffered: nobody may register, or only with an invitation, and there is none.
        """
        self.require_not_closed()
        if self.registration is Registration.INVITED and not invitation:
            raise NotOffered("only who is invited can register on this site", "invitation")
