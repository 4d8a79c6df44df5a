"""Words that people and tools use for the same thing: a hand-made table over the vocabulary of tools.

Each line of GROUPS is one meaning; a word may stand in several. Each line of SHORT_FORMS explains an abbreviation, one way only.
"""

from collections.abc import Mapping

from toolcrib.catalog.index.stem import stem


def build_synonyms() -> Mapping[str, tuple[str, ...]]:
    """Stem → the stems that mean nearly the same, in the table's order."""
    near: dict[str, dict[str, None]] = {}
    for line in GROUPS.split("\n"):
        stems = [stem(word) for word in line.split()]
        for one in stems:
            near.setdefault(one, {}).update((other, None) for other in stems if other != one)
    for line in SHORT_FORMS.strip().split("\n"):
        short, *long = line.split()
        near.setdefault(stem(short), {}).update((stem(word), None) for word in long)
    return {one: tuple(others) for one, others in near.items()}


GROUPS = """
create make new add start generate build open
add insert append attach include put
delete remove erase drop clear discard purge destroy eliminate forget trash
update modify edit change alter adjust revise set patch
change replace swap substitute
get fetch retrieve obtain read show view display see
list show enumerate browse
find search lookup look locate discover query seek hunt
check verify validate confirm test inspect
send post deliver transmit submit dispatch forward
message text sms chat dm
message notify alert inform announce
email mail inbox gmail
reply respond answer
calculate compute determine evaluate work figure estimate
convert transform translate change turn exchange
compare contrast difference diff juxtapose versus
copy duplicate clone replicate
move transfer relocate shift migrate
rename retitle
save store keep persist record
load import read ingest
export download dump save
upload import attach
run execute launch invoke perform start trigger
start begin launch initiate boot activate enable
stop end halt terminate cancel kill abort finish shut
pause suspend hold
resume continue
cancel revoke abort undo
restart reboot reload reset
install setup deploy
deploy release publish ship rollout
book reserve reservation booking
buy purchase order acquire
sell trade
pay payment transaction charge checkout
price cost fee rate quote charge expense pricing worth
cheap affordable inexpensive low
invoice bill receipt
money cash currency fund
currency exchange forex
stock share equity ticker
invest investment portfolio
crypto cryptocurrency bitcoin coin
bank account balance
loan mortgage credit
tax vat
salary wage income earning
weather forecast temperature climate
rain precipitation
location place position where
address street
city town
country nation
map geography
coordinates latitude longitude gps
distance far
route direction navigate path way
directory folder
folder directory
file document
doc documentation document manual guide
picture image photo photograph screenshot
screenshot capture snapshot
video movie film clip
film movie cinema
song music track audio
music playlist album
sound audio voice speech
listen play
show concert event
event appointment meeting calendar
meeting conference call
schedule plan calendar appointment agenda
remind reminder alarm
task todo item
ticket issue bug problem
bug error issue defect fault exception crash
error exception failure
fix repair resolve solve correct
close resolve complete
approve accept confirm allow
reject deny decline refuse
comment note remark reply
note memo annotation
issue ticket
review rating feedback critique
like favorite star
follow subscribe
subscribe subscription
share publish post
tweet twitter post
user member person account people
customer client
employee staff worker personnel colleague
team group organization
company business firm organization corporation
friend contact
contact person
boss manager
doctor physician
hospital clinic medical
medicine drug medication
disease illness
restaurant dining food eat
food meal dish
recipe cook
drink beverage
hotel accommodation lodging stay room
flight plane airline airplane
airport flight
train rail railway
car vehicle automobile
ride taxi cab uber
trip travel journey tour
vacation holiday trip
house home property estate apartment
rent lease rental
job position vacancy career employment
school university college
student pupil
course class lesson
book novel
author writer
author creator
article news story
news headline
page website site web
website site webpage
link url
browser chrome tab
click press tap
type enter input fill
select choose pick option
scroll swipe
key password credential secret token
login signin authenticate
logout signout
permission access privilege role
encrypt cipher
database db table
row record entry
column field attribute
record entry
collection table
table sheet
spreadsheet excel sheet workbook
slide presentation powerpoint
word docx document
chart plot graph diagram visualization
draw plot render
repository repo project
repo repository
commit change revision
branch fork
merge combine join unite
split divide separate
sort order rank arrange
filter narrow restrict
count number many quantity
total sum
sum add addition
subtract minus difference
multiply product times
divide quotient
average mean
maximum max highest largest greatest top
minimum min lowest smallest least
big large size
length long
height tall
weight mass heavy
speed velocity fast
time hour clock
date day
today current now latest
latest recent new newest
history past previous log
log trace output
log audit
server host machine instance
machine computer vm
cloud aws azure
container docker
cluster kubernetes
queue topic
cache redis
metric statistic measure
monitor watch track observe
track follow trace
alert alarm
chance probability likelihood odds
predict forecast projection
random arbitrary
area surface
volume capacity
derivative differentiate gradient
integral integrate
equation formula
root solution
factor divisor
square power
triangle hypotenuse
circle radius circumference
gene dna genetic
animal species
plant tree flower
player athlete
game match
team club
score result
law legal statute
lawsuit case court
crime criminal
language translation
translate interpret
summary summarize brief digest overview outline
explain describe clarify
describe detail information info
information info detail data
recommend suggest advise suggestion
advice recommendation
improve optimize enhance
analyze analysis examine study
similar related alike
memory remember recall
remember store memorize
forget delete
skill ability
agent assistant bot
light lamp
temperature thermostat heat
door lock
phone mobile telephone call
sms text
subtitle caption transcript
transcribe transcript speech
read recite
print echo output
environment env variable
folder dir
dir directory
command shell terminal bash
process program
shell terminal
code source script program
function method procedure
variable parameter
test check
compress zip gzip archive
extract unzip decompress
hash digest checksum
parse interpret
scrape crawl extract
crawl spider
screen window display
device hardware
network connection internet
internet web online
port socket
domain dns
ip address
elevation altitude height high sea
geocode coordinates latitude longitude
nearby near close nearest closest around local
reach reachable isochrone
permitted allowed permission
inside contents content
hierarchy tree nested structure
shape schema structure format
index speed fast lookup
aggregate group summarize total
exception crash failure
production live
remark comment
land merge
propose suggest
green pass status
ci build pipeline
status state progress health
state status condition
sign signature
member participant attendee
invite invitation
notify notification push
subscribe follow watch
mute silence quiet
outage incident downtime
incident outage emergency
downtime maintenance
span trace
dashboard panel board
backlog sprint board
epic story ticket
assign delegate give
due deadline
tick complete finish done close
complete done finish mark
reopen reactivate
label tag category
tag label hashtag
category genre type kind
type kind sort
template pattern
pattern regex match
match fit
replace substitute swap
occurrence instance
chapter section heading
heading title headline
title name
name call title
paragraph text
page sheet slide
footnote endnote reference
reference citation cite bibliography
cite reference
paper article publication preprint research
research study investigate
abstract summary
author researcher
voice speaker
speak say talk pronounce
talk speak conversation
conversation dialogue chat
singer artist musician band
artist singer painter
noise background
isolate separate
clone copy replicate
compose write
color colour
colour color
cell range
formula equation function
pivot summary
validate check lint
lint check
flaky unstable
rerun retry repeat
retry again repeat
repeat again
trigger start run fire
rollback revert undo restore
revert undo rollback
undo reverse cancel
restore recover backup
backup snapshot archive
expire ttl timeout
key secret
cpu processor
memory ram
disk storage drive
storage bucket disk
bucket storage
usage consumption
usage utilization
quota limit
limit cap restrict
budget limit spending
spend expense cost
balance fund amount
deposit fund add
withdraw remove
transfer send
debt loan
interest rate
insurance coverage policy
policy rule
rule policy
law regulation
tariff duty
profit gain revenue earning
revenue sale income
sale revenue
discount coupon promo
cart basket
order purchase
product item goods
item product
inventory stock
shipment delivery package parcel
deliver shipment
ship deliver
menu dish
ingredient recipe
calorie nutrition diet
diet nutrition
exercise workout fitness
workout exercise
patient medical
symptom diagnosis
appointment visit
visit trip
guest visitor
passenger traveler
departure leave
arrival arrive
leave depart
airport airline
seat ticket
ticket seat
concert show
theater cinema
tv television
watch view
episode series
league tournament championship
tournament competition
competition contest
win victory
rank standing position
standing rank
position rank
athlete player
coach manager
biology cell
molecule compound
element atom
chemistry chemical
physics force
force pressure
energy power
power electricity
voltage electric
gravity acceleration
acceleration velocity
velocity speed
distance length
convert unit
unit measurement
measure measurement
percent percentage
percentage ratio
ratio proportion
variance deviation
deviation variance
regression correlation
cluster group
sample example
example instance
simulate model
model train
train learn
learn study
predict estimate
classify categorize label
categorize classify
sentiment emotion
emotion mood
keyword term
term word
word text
sentence text
paragraph passage
text string
string text
uppercase capital
array list
list array
matrix table
vector embedding
embedding vector
prime factor
factorial permutation
permutation combination
sequence series
series sequence
fibonacci sequence
geometry shape
angle degree
perimeter circumference
season spring
humid humidity moisture
moisture humidity
pollution air
air quality
wind breeze
earthquake seismic
map location
country region
region area zone
zone area
timezone zone time
clock time
hour time
minute time
second time
duration time length
date time
birthday birth
age old
population people inhabitant
gdp economy
economy economic
government political
president leader
war battle conflict
battle war
history historical
museum gallery exhibition
exhibition museum
painting art artwork
art artwork painting
sculpture statue
instrument guitar piano
note melody
chord note
dance party
wedding party
gift present
clothes clothing apparel
shoe footwear
size dimension
dimension size
bed furniture
furniture decor
room bedroom
clean cleaning
housekeeper maid cleaning
plumber repair
repair maintenance
engine motor
tire wheel
fuel gas petrol
gas petrol
brake pedal
park parking
lock unlock
unlock open
open unlock
turn switch toggle
switch toggle turn
toggle switch
brightness light
volume loudness
timer countdown
alarm wake
"""

SHORT_FORMS = """
pr pull request
prs pull request
mr merge request
mrs merge request
k8s kubernetes kubectl
kubectl kubernetes
repo repository
repos repository
db database
dbs database
dir directory
dirs directory
mkdir create directory folder
rmdir remove directory folder
rm remove delete
mv move rename
cp copy
ls list directory
cd change directory
cat read file
grep search
ps process list
env environment variable
config configuration
conf configuration
auth authentication
authn authentication
authz authorization
admin administrator
info information
msg message
dm direct message
img image
pic picture image
pics picture image
vid video
doc document
docs documentation document
ppt powerpoint presentation
xls excel spreadsheet
csv spreadsheet table
app application
apps application
js javascript
ts typescript
py python
ml machine learning
ai artificial intelligence
ui interface
url link
uri link
id identifier
num number
calc calculate
temp temperature
lat latitude
lng longitude
lon longitude
hr hour
min minute
sec second
qty quantity
amt amount
avg average
max maximum
stats statistics
stat statistics
org organization
orgs organization
dept department
addr address
tz timezone
vm virtual machine
vms virtual machine
ec2 instance
s3 bucket storage
iam identity role
gcd greatest common divisor
lcm least common multiple
hcf greatest common factor
gdp gross domestic product
bmi body mass index
roi return investment
npv net present value
eta arrival time
faq question
rss feed
ci pipeline
cicd pipeline
qr code
tts text speech
stt speech text
ocr text image
faqs question
"""
